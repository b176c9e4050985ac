#include "experiment/simulated/simulated_run.h"

#include <glog/logging.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "algorithm/membership/quorum.h"
#include "base/status.h"
#include "base/units.h"
#include "experiment/core/experiment.h"
#include "experiment/core/experiment_results.h"
#include "experiment/core/failure_policy.h"
#include "experiment/core/run_checkpoints.h"
#include "experiment/simulated/experiment_vectors.h"
#include "model/problem/averaged_model.h"
#include "run/config/config_field.h"
#include "run/records/event_file.h"
#include "run/records/metrics.h"
#include "run/records/output_file.h"
#include "run/records/run_directory.h"
#include "sim/engine/round_collector.h"
#include "sim/engine/step_observers.h"

namespace grapevine {

using std::chrono::nanoseconds;

SimulatedNodeMetrics::SimulatedNodeMetrics(const Experiment* experiment, const RunCourse* course,
                                           Rank nodes)
    : experiment_(experiment), course_(course), nodes_(nodes) {}

absl::Status SimulatedNodeMetrics::Resume(const std::string& run, Rank rank, Round round,
                                          Nanoseconds time, int64_t bytes_received) {
  Node& node = nodes_[rank];
  node.last_line = time;
  // Counted before all rounds, whichever is the node's next.
  node.bytes_received.Add(-1, bytes_received);
  ASSIGN_OR_RETURN(const std::vector<std::string> lines,
                   KeepLinesUntil(MetricsPath(NodeDirectory(run, rank)), round));
  for (const std::string& line : lines) node.lines += line + "\n";
  return absl::OkStatus();
}

void SimulatedNodeMetrics::OnGradient(const GradientTimes& gradient) {
  nodes_[gradient.rank].work.AddGradient(gradient.loss, course_->PassesIn(gradient.round).count,
                                         nanoseconds(gradient.end - gradient.begin), gradient.noise,
                                         gradient.norms);
}

void SimulatedNodeMetrics::OnMessage(const MessageTimes& message) {
  nodes_[message.to].bytes_received.Add(message.round, message.bytes);
}

void SimulatedNodeMetrics::OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) {
  nodes_[rank].work.mix += nanoseconds(end - begin);
}

void SimulatedNodeMetrics::OnCut(const CutTimes& cut, int64_t bytes_sent,
                                 const Staleness& staleness, StepStatistics* statistics) {
  Node& node = nodes_[cut.rank];
  const int64_t bytes_received = node.bytes_received.Before(cut.completed);
  if (!course_->Measured(cut.round)) return;
  NodeWork work = std::exchange(node.work, {});
  work.time = nanoseconds(cut.now - std::exchange(node.last_line, cut.now));
  const bool shares_budget = !experiment_->has_rounds();
  if (shares_budget) node.ledger.Add(nanoseconds(cut.now), &work);
  if (!experiment_->problem().learns()) return;
  work.awaited = statistics->TakeWaits(cut.rank);
  NodeMetrics metrics = MeasureNode(course_->At(cut.round), nanoseconds(cut.now), work,
                                    experiment_->config().batch(), /*learns=*/true);
  if (shares_budget) node.ledger.Describe(work, staleness, &metrics);
  metrics.bytes_sent_total = bytes_sent;
  metrics.bytes_received_total = bytes_received;
  node.lines += ToJsonLine(metrics);
  node.lines += '\n';
}

absl::Status SimulatedNodeMetrics::Write(const std::string& run) const {
  for (Rank rank = 0; rank < static_cast<Rank>(nodes_.size()); ++rank) {
    ASSIGN_OR_RETURN(const std::string folder, CreateNodeDirectory(run, rank));
    RETURN_IF_ERROR(WriteOutputFile(MetricsPath(folder), nodes_[rank].lines));
  }
  return absl::OkStatus();
}

namespace {

// Returns the bandwidth in each direction if all hosts have equal interfaces and nothing else
// limits; else 0.
double InterfaceBandwidth(const NetworkPlan& network) {
  const std::optional<HostInterfaces> interfaces = network.platform().interfaces();
  return interfaces ? interfaces->bandwidth : 0;
}

// Returns a reader for the saved states of all nodes.
std::function<absl::StatusOr<NodeState>(Rank)> Saved(const Checkpoint& checkpoint) {
  return [&checkpoint](Rank rank) { return ReadNodePart(checkpoint, rank); };
}

}  // namespace

SimulatedRun::SimulatedRun(const Experiment* experiment, SimulatedRunOptions options)
    : experiment_(experiment),
      options_(std::move(options)),
      course_(experiment->NewCourse()),
      horizon_(experiment->HorizonOf(course_.get())) {}

SimulatedRun::~SimulatedRun() = default;

absl::StatusOr<Summary> SimulatedRun::Run() {
  RETURN_IF_ERROR(Prepare());
  const absl::Status ended = simulation_->Run(horizon_.limit());
  RETURN_IF_ERROR(chaos_ ? chaos_->Verdict(ended) : ended);
  if (checkpoints_) RETURN_IF_ERROR(checkpoints_->Finish());
  return Conclude();
}

absl::Status SimulatedRun::Prepare() {
  RETURN_IF_ERROR(PrepareToGoOn());
  ASSIGN_OR_RETURN(cluster_, SimulatedCluster::Make(experiment_->config()));
  SimulationOptions options = cluster_->options(*experiment_);
  options.begin = begin();
  options.begin_time = begin_time();
  if (resumed_) options.start_spread = 0;
  options.done = Done();
  workers_ = experiment_->workers();
  // Nodes die only of faults.
  const bool may_shrink = experiment_->shrinks() && !experiment_->faults().empty();
  if (may_shrink || experiment_->renews_views()) views_ = experiment_->NewViews();
  compute_ = experiment_->MakeCompute(course_.get());
  SharedVector initial;  // set if it is not the experiment's
  if (resumed_ && !restores()) {
    ASSIGN_OR_RETURN(initial, MeanOf(*resumed_, *experiment_));
  }
  ASSIGN_OR_RETURN(vectors_, MakeVectorStore(*experiment_, course_.get(), initial));
  ASSIGN_OR_RETURN(evaluator_, experiment_->problem().MakeEvaluator({}, {}));
  if (evaluator_ || !experiment_->has_rounds()) {
    node_metrics_ = std::make_unique<SimulatedNodeMetrics>(experiment_, course_.get(),
                                                           experiment_->config().nodes());
  }
  collector_ = std::make_unique<RoundCollector>(
      RoundCollector::Options{
          .nodes = measured_nodes(),
          .measured = [this](Round completed) { return course_->Measured(completed); }},
      [this](const MeasuredRound& measured) { return OnMeasured(measured); });
  statistics_ = std::make_unique<StepStatistics>(
      StepStatistics::Options{.nodes = experiment_->config().nodes(),
                              .workers = workers_,
                              .bandwidth = InterfaceBandwidth(cluster_->network()),
                              .begin_time = begin_time(),
                              .begin = begin(),
                              .done = Done()});
  observers_.Add(this);
  observers_.Add(statistics_.get());
  RETURN_IF_ERROR(PrepareTrace());
  RETURN_IF_ERROR(PrepareChaos());
  ASSIGN_OR_RETURN(
      simulation_,
      Simulation::Make(options,
                       {.make_network = [this](AlarmClock* clock) { return MakeNetwork(clock); },
                        .make_algorithm =
                            [this](Rank rank) {
                              return views_ ? experiment_->MakeResilientAlgorithm(
                                                  rank, course_.get(), views_.get())
                                            : experiment_->MakeAlgorithm(rank, course_.get());
                            },
                        .resume = restores() ? Saved(*resumed_) : nullptr,
                        .vectors = vectors_.get(),
                        .compute = compute_.get(),
                        .effects = cluster_->effects(),
                        .observer = &observers_,
                        .interrupted = options_.interrupted}));
  if (chaos_) RETURN_IF_ERROR(chaos_->Begin(simulation_.get(), begin()));
  if (resumed_) {
    ASSIGN_OR_RETURN(const RunSoFar so_far, ReadRunSoFar(*experiment_, options_.run_directory,
                                                         *resumed_, *course_, &horizon_));
    meter_.Resume(so_far.measured, SecondsOfNanoseconds(begin_time()));
    RETURN_IF_ERROR(ContinueFiles());
  }
  RETURN_IF_ERROR(PrepareCheckpoints());
  ASSIGN_OR_RETURN(metrics_file_, LineFile::Open(MetricsPath(options_.run_directory)));
  if (!experiment_->config().tensorboard()) return absl::OkStatus();
  const absl::Time first = SimulatedRunsBegin() + absl::Nanoseconds(begin_time());
  ASSIGN_OR_RETURN(events_, CreateEventFile(options_.run_directory, absl::Now(), first, begin()));
  return absl::OkStatus();
}

absl::Status SimulatedRun::PrepareToGoOn() {
  ASSIGN_OR_RETURN(resumed_, CheckpointToResume(*experiment_));
  if (!resumed_) return absl::OkStatus();
  before_ = TrafficUntil(*resumed_, *experiment_);
  for (const auto& [from, workers] : WorkersSince(*resumed_, *experiment_)) {
    course_->Among(from, workers);
  }
  return absl::OkStatus();
}

std::vector<Round> SimulatedRun::Done() const {
  std::vector<Round> done;
  if (experiment_->has_rounds() || !resumed_) return done;
  if (!restores()) {  // workers as if each had done a step a round, and servers nothing
    done.assign(experiment_->workers(), begin());
    done.resize(experiment_->config().nodes());
    return done;
  }
  for (const CheckpointPart& part : resumed_->manifest.nodes()) {
    done.push_back(RoundsIn(resumed_->manifest, part));
  }
  return done;
}

absl::Status SimulatedRun::PrepareChaos() {
  if (experiment_->faults().empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(
      chaos_, SimulatedChaos::Make(*experiment_, options_.run_directory, begin(), begin_time()));
  compute_ = chaos_->Compute(std::move(compute_));
  observers_.Add(chaos_.get());
  return absl::OkStatus();
}

std::unique_ptr<NetworkModel> SimulatedRun::MakeNetwork(AlarmClock* clock) const {
  std::unique_ptr<NetworkModel> network = cluster_->network().Make(clock);
  return chaos_ ? chaos_->Network(std::move(network), clock) : std::move(network);
}

absl::Status SimulatedRun::ContinueFiles() {
  for (Rank rank = 0; restores() && rank < experiment_->config().nodes(); ++rank) {
    // Damage is to be found while the later checkpoints still exist.
    RETURN_IF_ERROR(ReadNodePart(*resumed_, rank).status());
  }
  // Results and checkpoints go before the lines that they rely on.
  RETURN_IF_ERROR(RemoveResults(options_.run_directory));
  RETURN_IF_ERROR(RemoveCheckpointsAfter(options_.run_directory, begin()));
  if (!restores()) {
    RETURN_IF_ERROR(ChangeNodesOf(options_.run_directory, *resumed_, *experiment_));
  }
  RETURN_IF_ERROR(KeepLinesUntil(MetricsPath(options_.run_directory), begin()).status());
  for (Rank rank = 0; rank < experiment_->config().nodes(); ++rank) {
    RETURN_IF_ERROR(node_metrics_->Resume(options_.run_directory, rank, begin(), begin_time(),
                                          before_.nodes[rank].bytes_received));
  }
  return absl::OkStatus();
}

absl::Status SimulatedRun::PrepareCheckpoints() {
  ASSIGN_OR_RETURN(const auto every, CheckpointsOf(*experiment_));
  if (!every) return absl::OkStatus();
  ASSIGN_OR_RETURN(CheckpointManifest manifest, ManifestOf(*experiment_));
  checkpoints_ = std::make_unique<SimulatedCheckpoints>(SimulatedCheckpoints::Parts{
      .experiment = experiment_,
      .manifest = std::move(manifest),
      .simulation = simulation_.get(),
      .vectors = vectors_.get(),
      .run_directory = options_.run_directory,
      .every = *every,
      .terminated = options_.terminated,
      .begin_time = begin_time(),
      .describe = [this](CheckpointManifest* manifest) { Describe(manifest); },
      .write_metrics =
          [this] {
            absl::Status synced = metrics_file_->Sync();
            return synced.ok() ? node_metrics_->Write(options_.run_directory) : synced;
          },
      .bytes_sent = [this](Rank rank) { return BytesSent(rank); },
      .bytes_received =
          [this](Rank rank, Round completed) {
            return node_metrics_->BytesReceived(rank, completed);
          }});
  observers_.Add(checkpoints_.get());  // after this run, whose files say all of a round by then
  return absl::OkStatus();
}

int64_t SimulatedRun::BytesSent(Rank rank) const {
  const int64_t before = resumed_ ? before_.nodes[rank].bytes_sent : 0;
  return before + simulation_->bytes_sent(rank);
}

void SimulatedRun::Describe(CheckpointManifest* manifest) const {
  AddHistory(course_->plan(), manifest);
  int64_t lost = before_.lost_bytes_sent;
  const std::vector<Rank> members = MembersOf(*manifest);
  for (Rank rank = 0; rank < experiment_->config().nodes(); ++rank) {
    if (!std::ranges::binary_search(members, rank)) lost += BytesSent(rank);
  }
  if (lost > 0) manifest->set_lost_bytes_sent(lost);
}

absl::Status SimulatedRun::PrepareTrace() {
  const Config& config = experiment_->config();
  if (!config.has_trace()) return absl::OkStatus();
  ASSIGN_OR_RETURN(trace_, ChromeTrace::Create(config.trace()));
  trace_writer_ = std::make_unique<SimTrace>(config.nodes(), trace_.get());
  observers_.Add(trace_writer_.get());
  return absl::OkStatus();
}

void SimulatedRun::OnGradient(const GradientTimes& gradient) {
  if (experiment_->has_rounds()) return CountGradient(gradient);
  HeldGradient& held = held_[gradient.rank];
  held.norms.assign(gradient.norms.begin(), gradient.norms.end());
  held.times = gradient;
}

absl::Status SimulatedRun::OnBoundary(Rank rank, Round, Nanoseconds, Vec) {
  const auto held = held_.extract(rank);
  if (!held) return absl::OkStatus();
  GradientTimes times = held.mapped().times;
  times.norms = held.mapped().norms;
  CountGradient(times);
  return absl::OkStatus();
}

void SimulatedRun::CountGradient(const GradientTimes& gradient) {
  collector_->OnGradient(gradient.rank, gradient.loss, course_->PassesIn(gradient.round).count,
                         gradient.noise);
  if (node_metrics_) node_metrics_->OnGradient(gradient);
}

void SimulatedRun::OnMessage(const MessageTimes& message) {
  if (node_metrics_) node_metrics_->OnMessage(message);
}

void SimulatedRun::OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) {
  if (node_metrics_) node_metrics_->OnArithmetic(rank, begin, end);
}

absl::Status SimulatedRun::OnCut(const CutTimes& cut, Vec model) {
  if (node_metrics_) {
    node_metrics_->OnCut(cut, BytesSent(cut.rank), simulation_->staleness(cut.rank),
                         statistics_.get());
  }
  if (cut.rank >= measured_nodes()) return absl::OkStatus();  // a server: it has no model
  return collector_->OnBoundary(cut.rank, cut.round, cut.now, BytesSent(cut.rank),
                                vectors_->At(model));
}

absl::Status SimulatedRun::OnDeath(Rank rank, Nanoseconds) {
  const Config& config = experiment_->config();
  const Rank left = simulation_->living();
  const Rank lately = simulation_->MostMembers(ResolvedDuration(config.peer_timeout()).count());
  std::optional<Rank> least = LeastNodes(config);
  // A run cannot go on with servers alone.
  const Rank servers = config.nodes() - workers_;
  if (left <= servers) least = std::max(least.value_or(0), servers + 1);
  if (left >= LeastMembers(least, lately) || (left > 0 && WaitsForOthers(config)))
    return collector_->Lose(rank, BytesSent(rank));
  return WithFailure(absl::AbortedError(absl::StrCat(
                         "rank ", rank, " is lost; ",
                         TooFewMembers(left, config.nodes(), least, lately,
                                       absl::StrCat("--peer-timeout=", config.peer_timeout())))),
                     Failure::kPeerLost);
}

absl::Status SimulatedRun::OnReturn(Rank rank, Round from, Nanoseconds) {
  collector_->TakeIn(rank, from);
  return absl::OkStatus();
}

std::set<Rank> SimulatedRun::Lost() const {
  std::set<Rank> lost;
  for (Rank rank = 0; rank < experiment_->config().nodes(); ++rank) {
    if (!simulation_->alive(rank)) lost.insert(rank);
  }
  return lost;
}

std::vector<SharedVector> SimulatedRun::LivingOf(std::span<const SharedVector> models) const {
  std::vector<SharedVector> living;
  for (Rank rank = 0; rank < workers_; ++rank) {
    // A node that has joined since has no model here.
    if (simulation_->alive(rank) && models[rank].data) living.push_back(models[rank]);
  }
  return living;
}

Rank SimulatedRun::measured_nodes() const {
  return experiment_->evaluated() == EvaluatedModel::kServersWeights ? experiment_->config().nodes()
                                                                     : workers_;
}

absl::Status SimulatedRun::OnMeasured(const MeasuredRound& measured) {
  RunWork work{.time_s = SecondsOfNanoseconds(measured.time),
               .losses = measured.passes,
               .noise = measured.noise,
               .samples = measured.passes * experiment_->config().batch(),
               .bytes_sent = measured.bytes_sent + before_.lost_bytes_sent};
  if (measured.living < measured_nodes() || experiment_->changed()) {
    work.living = measured.living + experiment_->config().nodes() - measured_nodes();
  }
  for (Rank server = measured_nodes(); server < experiment_->config().nodes(); ++server) {
    work.bytes_sent += BytesSent(server);
  }
  std::optional<EvaluationRecord> evaluation;
  if (evaluator_) {
    work.loss_sum = measured.loss_sum;
    const auto models = std::span(measured.models);
    AveragedModel counts =
        AverageReplicas(experiment_->layout(), measured.completed, LivingOf(models));
    work.consensus_distance = counts.consensus_distance;
    work.buffer_distance = counts.buffer_distance;
    if (course_->Evaluated(measured.completed)) {
      RETURN_IF_ERROR(CheckModels(measured));
      if (experiment_->evaluated() == EvaluatedModel::kServersWeights) {
        counts = JoinShards(experiment_->layout(), measured.completed, models.subspan(workers_));
      }
      ASSIGN_OR_RETURN(evaluation, Evaluate(counts, measured));
    }
  }
  const RunMetrics metrics = meter_.Measure(course_->At(measured.completed), work, evaluation);
  if (options_.on_metrics) options_.on_metrics(metrics);
  RETURN_IF_ERROR(metrics_file_->Append(ToJsonLine(metrics)));
  if (!events_) return absl::OkStatus();
  return events_->AppendRecord(
      EventRecord(metrics, SimulatedRunsBegin() + absl::Seconds(metrics.time_s)));
}

absl::Status SimulatedRun::CheckModels(const MeasuredRound& measured) const {
  for (Rank rank = 0; rank < static_cast<Rank>(measured.models.size()); ++rank) {
    const SharedVector& model = measured.models[rank];
    RETURN_IF_ERROR(CheckIsFinite(rank, measured.completed, model.data.get(), model.size));
  }
  return absl::OkStatus();
}

absl::StatusOr<EvaluationRecord> SimulatedRun::Evaluate(const AveragedModel& average,
                                                        const MeasuredRound& measured) {
  const int64_t samples = course_->plan().EvaluationSamples(average.round);
  ASSIGN_OR_RETURN(const EvaluationRecord evaluation,
                   EvaluateAverage(average, samples, *evaluator_));
  if (horizon_.OnEvaluation(evaluation)) simulation_->ExtendLimit(horizon_.limit());
  if (horizon_.reached()) {  // no node has to be told in time
    last_models_ = measured.models;
    simulation_->Stop();
  }
  RETURN_IF_ERROR(WriteAveragedModel(*experiment_, average, options_.run_directory));
  return evaluation;
}

absl::StatusOr<Summary> SimulatedRun::Conclude() {
  const RunMetrics& latest = meter_.latest();
  const std::optional<RunMetrics> met = horizon_.reached() ? std::optional(latest) : std::nullopt;
  Summary summary = SummaryOf(*experiment_, *course_, Lost(), latest, met);
  summary.simulated_time_s = latest.time_s;
  if (evaluator_) {
    ASSIGN_OR_RETURN(const std::optional<Spread> local, EvaluateNodes());
    summary.local_test_accuracy = local;
    RETURN_IF_ERROR(node_metrics_->Write(options_.run_directory));
  }
  summary.server_links = LinksOfServers();
  AddLongestWaits(statistics_->waits(), &summary);
  if (!experiment_->has_rounds()) AddTotals(Totals(), workers_, &summary);
  if (trace_) {
    RETURN_IF_ERROR(trace_->Finish());
    if (trace_->dropped() > 0) {
      LOG(WARNING) << experiment_->config().trace() << " lacks the last " << trace_->dropped()
                   << " events of the run; simulate fewer rounds or nodes to see all";
    }
  }
  RETURN_IF_ERROR(WriteStatistics(options_.run_directory, statistics()));
  RETURN_IF_ERROR(WriteSummary(options_.run_directory, summary));
  return summary;
}

std::optional<ServerLinks> SimulatedRun::LinksOfServers() const {
  const Rank nodes = experiment_->config().nodes();
  if (workers_ == nodes) return std::nullopt;
  ServerLinks links;
  for (Rank server = workers_; server < nodes; ++server) {
    const int64_t before = resumed_ ? before_.nodes[server].bytes_received : 0;
    links.bytes_sent.push_back(BytesSent(server));
    links.bytes_received.push_back(before + statistics_->bytes_received(server));
  }
  return links;
}

std::vector<NodeTotals> SimulatedRun::Totals() const {
  std::vector<NodeTotals> totals;
  for (Rank rank = 0; rank < experiment_->config().nodes(); ++rank) {
    totals.push_back(node_metrics_->totals(rank, simulation_->staleness(rank)));
  }
  return totals;
}

Statistics SimulatedRun::statistics() const {
  constexpr size_t kMaxLinks = 10;
  Statistics statistics = statistics_->Result();
  statistics.busiest_links =
      BusiestLinks(cluster_->network().platform(), simulation_->network().link_bytes(),
                   simulation_->now() - begin_time(), kMaxLinks);
  return statistics;
}

absl::StatusOr<std::optional<Spread>> SimulatedRun::EvaluateNodes() {
  std::vector<double> accuracies;
  for (Rank rank = 0; rank < workers_; ++rank) {
    if (!simulation_->alive(rank)) continue;
    const SharedVector model =
        horizon_.reached() ? last_models_[rank] : vectors_->At(simulation_->model(rank));
    ASSIGN_OR_RETURN(const Evaluation result, evaluator_->Evaluate(model));
    if (result.accuracy) accuracies.push_back(*result.accuracy);
    ASSIGN_OR_RETURN(const std::string folder, CreateNodeDirectory(options_.run_directory, rank));
    RETURN_IF_ERROR(WriteNodeModel(*experiment_, rank, model, folder));
  }
  return accuracies.empty() ? std::nullopt : std::optional(SpreadOf(accuracies));
}

}  // namespace grapevine
