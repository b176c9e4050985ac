#include "experiment/real/node_run.h"

#include <glog/logging.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"
#include "base/units.h"
#include "experiment/core/experiment_identity.h"
#include "experiment/core/experiment_results.h"
#include "experiment/core/run_checkpoints.h"
#include "experiment/real/node_addresses.h"
#include "experiment/real/run_succession.h"
#include "experiment/real/write_right.h"
#include "kernels/passes/crc32c.h"
#include "kernels/passes/sketch.h"
#include "model/problem/averaged_model.h"
#include "node/telemetry/telemetry_port.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/checkpoint/checkpoint_files.h"
#include "run/config/config_field.h"
#include "run/records/awaited_peers.h"
#include "run/records/event_file.h"
#include "run/records/metrics.h"
#include "run/records/output_file.h"
#include "run/records/revision.h"
#include "run/records/run_directory.h"
#include "run/timing/compute_time.h"

namespace grapevine {
namespace {

std::vector<control::Agreement> Agreements(const std::vector<IdentityItem>& identity) {
  std::vector<control::Agreement> agreements;
  for (const IdentityItem& item : identity) {
    control::Agreement& agreement = agreements.emplace_back();
    agreement.set_name(item.name);
    agreement.set_value(item.value);
  }
  return agreements;
}

// Returns how long this node's gradients take: those of a phantom the time that --compute gives,
// others their own time, and a straggler's longer. `compute`, which may be null, must outlive the
// pace.
GradientPace OwnPace(const Experiment& experiment, const ComputeTime* compute, Rank rank) {
  using std::chrono::nanoseconds;
  if (compute != nullptr) {
    return [compute, rank](Round round, nanoseconds) {
      return nanoseconds(compute->Gradient(rank, round));
    };
  }
  if (experiment.stragglers().none()) return {};
  return [&experiment, rank](Round round, nanoseconds computed) {
    return nanoseconds(ToGradientTime(static_cast<double>(computed.count()) *
                                      experiment.stragglers().Factor(rank, round)));
  };
}

// Returns the pace `own`, slowed down while the node is slow on purpose. `chaos` may be null.
GradientPace PaceOf(GradientPace own, const std::shared_ptr<NodeChaos>& chaos) {
  using std::chrono::nanoseconds;
  if (chaos == nullptr) return own;
  return [own = std::move(own), chaos](Round round, nanoseconds computed) {
    const nanoseconds time = own ? own(round, computed) : computed;
    return nanoseconds(ToGradientTime(static_cast<double>(time.count()) * chaos->Slowness()));
  };
}

// Returns what makes the gradients of a desk. Without a desk, it is empty: the runner makes its own
// gradients.
MakeGradients GradientsFrom(const std::shared_ptr<GradientDesk>& desk) {
  if (desk == nullptr) return {};
  return [desk](GradientReports reports) { return desk->NewComputer(std::move(reports)); };
}

// Returns the number of rounds; absent for an open-ended run.
std::optional<Round> PlannedRounds(const RunPlan& plan) {
  return plan.open_ended ? std::nullopt : std::optional(plan.rounds);
}

// Returns what the nodes must agree on about checkpoints. All nodes save at the same rounds, or
// none does. If rank 0 calls for checkpoints by its clock, only its own time counts. All nodes that
// begin the run go on from a checkpoint, or none does; a node that comes in later gets everything
// from the others.
std::vector<control::Agreement> CheckpointAgreements(
    const Config& config, const std::optional<CheckpointInterval>& every) {
  std::string saves = "not given";
  if (every) saves = every->rounds ? absl::StrCat(*every->rounds) : "a time";
  std::vector<control::Agreement> agreements =
      Agreements({{"--checkpoint-every", std::move(saves)},
                  {"--resume", config.has_resume() ? "given" : "not given"}});
  agreements.back().set_of_the_start(true);
  return agreements;
}

control::SavedPart PartWith(Round round, int64_t bytes, uint32_t checksum) {
  control::SavedPart part;
  part.set_round(round);
  part.set_bytes(bytes);
  part.set_checksum(checksum);
  return part;
}

// Returns a model as if it were a node's part. All nodes have done as many steps as there were
// nominal rounds.
control::SavedPart PartOfModel(Round round, const SharedVector& model) {
  const auto bytes = static_cast<size_t>(model.size) * sizeof(float);
  control::SavedPart part =
      PartWith(round, static_cast<int64_t>(bytes), Crc32c(0, model.data.get(), bytes));
  part.set_steps(round);
  return part;
}

// Returns where the run goes on. `mean` is the part with which all nodes begin if they begin at the
// mean of the models, and null otherwise.
control::Resumed ResumedFrom(const Checkpoint& checkpoint, const Experiment& experiment,
                             const EarlierTraffic& traffic, const control::SavedPart* mean,
                             const RunSoFar& so_far) {
  const CheckpointManifest& manifest = checkpoint.manifest;
  control::Resumed resumed;
  resumed.set_round(manifest.round());
  resumed.set_time_ns(manifest.time_ns());
  resumed.set_from_mean(mean != nullptr);
  resumed.set_lost_bytes_sent(traffic.lost_bytes_sent);
  for (Rank rank = 0; rank < experiment.config().nodes(); ++rank) {
    control::SavedPart& saved = *resumed.add_parts();
    if (mean != nullptr) {
      saved = *mean;
    } else {
      const CheckpointPart& part = manifest.nodes(rank);
      saved = PartWith(manifest.round(), part.bytes(), part.checksum());
      saved.set_steps(RoundsIn(manifest, part));
    }
    saved.set_bytes_sent(traffic.nodes[rank].bytes_sent);
    saved.set_bytes_received(traffic.nodes[rank].bytes_received);
  }
  for (const RunPlan::Living& since : WorkersSince(checkpoint, experiment)) {
    control::Workers& workers = *resumed.add_history();
    workers.set_from(since.from);
    workers.set_workers(since.workers);
  }
  for (const RunSoFar::Settled& settled : so_far.settled) {
    control::RoundLimit& limit = *resumed.add_settled();
    limit.set_limit(settled.limit);
    limit.set_growth(settled.growth);
  }
  return resumed;
}

control::StepSums ToReport(const StepSums& steps) {
  control::StepSums report;
  report.set_count(steps.count);
  report.set_time_s(steps.time_s);
  report.set_gradient_s(steps.gradient_s);
  report.set_mix_s(steps.mix_s);
  report.set_wait_s(steps.wait_s);
  return report;
}

void AddWaits(const AwaitedPeers& awaited, control::NodeMetrics* report) {
  for (const AwaitedPeers::Wait& wait : awaited.Longest()) {
    control::PeerWait& told = *report->add_waits();
    told.set_peer(wait.peer);
    told.set_time_ns(wait.time.count());
  }
}

}  // namespace

namespace {

// Returns the time in which a file must be written. It is half of the time that all results have,
// because an error about a file that makes no progress says more than one about a slow node.
std::chrono::nanoseconds WritingTime(const Experiment& experiment) {
  return ResolvedTimeout(experiment.config().step_timeout()) / 2;
}

}  // namespace

NodeRun::NodeRun(const Experiment* experiment, NodeRunOptions options)
    : experiment_(experiment),
      options_(std::move(options)),
      coordinates_(options_.rank == 0 && !options_.joins),
      node_directory_(NodeDirectory(options_.run_directory, options_.rank)),
      guard_(WriteRight({.run_directory = options_.run_directory,
                         .place = options_.session.discovery != nullptr ? options_.session.discovery
                                                                        : options_.session.role,
                         .locks = options_.locks && !coordinates_,
                         .patience = WritingTime(*experiment)})),
      course_(experiment->NewCourse()),
      horizon_(experiment->HorizonOf(course_.get(), settles_last())) {}

NodeRun::~NodeRun() = default;

absl::Status NodeRun::Run() {
  RETURN_IF_ERROR(OpenTelemetry());
  RETURN_IF_ERROR(Prepare());
  RETURN_IF_ERROR(BecomeInterruptible());
  return session_->Run([this](float* replica) { return Initialize(replica); });
}

absl::Status NodeRun::OpenTelemetry() {
  if (!options_.telemetry) return absl::OkStatus();
  const Config& config = experiment_->config();
  ASSIGN_OR_RETURN(telemetry_port_, OpenTelemetryPort(*options_.telemetry, AdvertisedHost(config),
                                                      {.rank = options_.rank,
                                                       .nodes = config.nodes(),
                                                       .rounds = PlannedRounds(experiment_->plan()),
                                                       .topology = config.topology(),
                                                       .algorithm = config.algorithm(),
                                                       .model = config.model(),
                                                       .version = Version(),
                                                       .revision = Revision()},
                                                      [this] { return Figures(); }));
  return absl::OkStatus();
}

NodeFigures NodeRun::Figures() {
  NodeFigures figures = telemetry_.Read(std::chrono::steady_clock::now());
  MutexLock lock(mutex_);
  if (!interruptible_) return figures;
  figures.connected = session_->Connected();
  figures.awaited = runner_->progress().waiting_for;
  if (coordinates_) figures.run = RunFigures{collector_->latest(), collector_->living()};
  return figures;
}

absl::Status NodeRun::Initialize(float* replica) const {
  if (!mean_.data) return experiment_->Initialize(replica);
  std::ranges::copy(mean_.span(), replica);
  return absl::OkStatus();
}

void NodeRun::Interrupt(absl::Status why) {
  MutexLock lock(mutex_);
  if (interruptible_) {
    session_->Interrupt(std::move(why));
  } else {
    interrupted_.Update(why);
  }
}

void NodeRun::EndWithCheckpoint(absl::Status why) {
  MutexLock lock(mutex_);
  if (interruptible_) {
    session_->EndWithCheckpoint(std::move(why));
  } else {
    interrupted_.Update(why);
  }
}

absl::Status NodeRun::BecomeInterruptible() {
  MutexLock lock(mutex_);
  interruptible_ = true;
  return interrupted_;
}

// Logs the sizes with which docs/benchmarks.md compares a node's memory; networks add their
// activations.
void NodeRun::LogSizes() const {
  const TrainTest* data = experiment_->problem().data();
  const absl::StatusOr<int64_t> vectors =
      LargestMemory(experiment_->algorithm_name(), experiment_->mixing().topology(),
                    experiment_->layout().size, experiment_->optimizer().state_vectors());
  LOG(INFO) << "rank " << options_.rank << ": "
            << experiment_->layout().size * int64_t{sizeof(float)} << " bytes of replica, "
            << (vectors.ok() ? *vectors : 0) * int64_t{sizeof(float)}
            << " bytes of vectors at the largest node, "
            << (data != nullptr ? data->train->bytes() + data->test->bytes() : 0)
            << " bytes of data set";
}

absl::Status NodeRun::PrepareLearning() {
  absl::StatusOr<std::vector<std::unique_ptr<Objective>>> objective = experiment_->MakeObjectives(
      options_.rank, options_.rank + 1, device_->training(), course_.get());
  constexpr std::string_view kWhen = "before the first round";
  if (!objective.ok()) return Explained(kWhen, objective.status());
  objective_ = std::move(objective->front());
  // On a GPU, what may fail is left to the first round: a node that fails before it joins leaves
  // the others waiting.
  if (!device_->data_path()) {
    if (absl::Status status = objective_->Prepare(); !status.ok()) return Explained(kWhen, status);
  }
  absl::StatusOr<std::unique_ptr<Evaluator>> evaluator = experiment_->problem().MakeEvaluator(
      device_->evaluation(), [this] { return session_->OnEvaluatedBatch(); });
  if (!evaluator.ok()) return Explained(kWhen, evaluator.status());
  evaluator_ = *std::move(evaluator);
  return absl::OkStatus();
}

absl::Status NodeRun::PrepareChaos() {
  if (experiment_->faults().empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(chaos_, NodeChaos::Make({.rank = options_.rank,
                                            .faults = experiment_->faults(),
                                            .seed = experiment_->config().seed(),
                                            .launcher = options_.launcher}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Algorithm>> NodeRun::MakeAlgorithm() {
  if (!experiment_->changes_views()) {
    return experiment_->MakeAlgorithm(options_.rank, course_.get());
  }
  views_ = experiment_->NewViews();
  return experiment_->MakeResilientAlgorithm(options_.rank, course_.get(), views_.get());
}

absl::Status NodeRun::PrepareToGoOn() {
  const Config& config = experiment_->config();
  if (!config.has_resume()) return absl::OkStatus();
  if (!coordinates_) {
    others_ = CheckpointOfOthers(*experiment_);
    const absl::Status found = others_ ? PrepareToBeginAtMean(*others_) : FindOwnParts();
    if (found.ok() || !options_.joins) return found;
    // A run that is under way gives this node all that it needs, and removes old checkpoints.
    LOG(INFO) << "rank " << options_.rank << " has no part of a checkpoint: " << found;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::optional<Checkpoint> checkpoint, CheckpointToResume(*experiment_));
  if (BeginsAtMean(*checkpoint, *experiment_)) others_ = checkpoint;
  RETURN_IF_ERROR(others_ ? PrepareToBeginAtMean(*others_) : FindOwnParts());
  return PrepareResumed(*checkpoint);
}

absl::Status NodeRun::FindOwnParts() {
  ASSIGN_OR_RETURN(const auto parts, NodePartsIn(experiment_->config().resume(), options_.rank));
  for (const auto& [round, part] : parts) {
    own_parts_.push_back(PartWith(round, part.bytes(), part.checksum()));
  }
  return absl::OkStatus();
}

absl::Status NodeRun::PrepareToBeginAtMean(const Checkpoint& checkpoint) {
  ASSIGN_OR_RETURN(mean_, MeanOf(checkpoint, *experiment_));
  own_parts_ = {PartOfModel(checkpoint.manifest.round(), mean_)};
  return absl::OkStatus();
}

absl::Status NodeRun::PrepareResumed(const Checkpoint& checkpoint) {
  ASSIGN_OR_RETURN(const RunSoFar so_far, ReadRunSoFar(*experiment_, options_.run_directory,
                                                       checkpoint, *course_, &horizon_));
  const EarlierTraffic traffic = TrafficUntil(checkpoint, *experiment_);
  lost_bytes_ = traffic.lost_bytes_sent;
  resumed_ = ResumedFrom(checkpoint, *experiment_, traffic, others_ ? &own_parts_.front() : nullptr,
                         so_far);
  collector_->GoOnFrom(resumed_->round(), so_far.measured,
                       Seconds(std::chrono::nanoseconds(resumed_->time_ns())), lost_bytes_);
  return absl::OkStatus();
}

absl::Status NodeRun::PrepareCheckpoints() {
  checkpoints_ = std::make_unique<NodeCheckpoints>(NodeCheckpoints::Parts{
      .run_directory = options_.run_directory,
      .rank = options_.rank,
      .sync_metrics = [this] { return node_metrics_->Sync(); },
      .report = [this](control::SavedPart part) { return session_->ReportPart(std::move(part)); },
      .written = [this] { runner_->OnStateWritten(); },
      .failed =
          [this](const absl::Status& why) {
            session_->Interrupt(coordinates_ ? WhyItFailed(guard_, why) : why);
          }});
  return coordinates_ ? PrepareCompletion() : absl::OkStatus();
}

void NodeRun::Describe(CheckpointManifest* manifest) const {
  AddHistory(course_->plan(), manifest);
  const int64_t lost = manifest->members().empty() ? lost_bytes_ : collector_->lost_bytes();
  if (lost > 0) manifest->set_lost_bytes_sent(std::min(lost, kMostCounted));
}

void NodeRun::OnLost(Rank rank) {
  collector_->Lose(rank);
  if (completion_) completion_->OnLost(rank);
}

void NodeRun::OnNewcomer(Rank rank, Round from) {
  collector_->TakeIn(rank, from);
  if (completion_) completion_->OnNewcomer(rank, from);
}

absl::Status NodeRun::PrepareCompletion() {
  ASSIGN_OR_RETURN(CheckpointManifest manifest, ManifestOf(*experiment_));
  completion_ = std::make_unique<CheckpointCompletion>(CheckpointCompletion::Parts{
      .experiment = experiment_,
      .manifest = std::move(manifest),
      .run_directory = options_.run_directory,
      .desk = {.nodes = experiment_->config().nodes(),
               .rounds = experiment_->rounds(),
               .begin = resumed_ ? resumed_->round() : 0,
               .saved = experiment_->has_rounds() ? SavedRounds(every_) : nullptr,
               .evaluated = [this](Round completed) { return course_->Evaluated(completed); }},
      .describe = [this](CheckpointManifest* manifest) { Describe(manifest); },
      .sync_metrics = [this] { return run_metrics_->Sync(WritingDeadline()); },
      .completed = [this](Round round) { session_->OnCheckpoint(round); },
      .failed = [this](const absl::Status& why) { session_->Interrupt(why); },
      .guard = guard_});
  return absl::OkStatus();
}

absl::Status NodeRun::Prepare() {
  LogSizes();
  if (coordinates_) PrepareCollector();
  RETURN_IF_ERROR(PrepareToGoOn());
  RETURN_IF_ERROR(PrepareChaos());
  compute_ = experiment_->MakeCompute(course_.get());
  ASSIGN_OR_RETURN(recording_, NodeRecording::Make(experiment_->config(), options_.rank,
                                                   options_.run_directory));
  ASSIGN_OR_RETURN(device_, NodeDevice::Open(experiment_->config(), options_.local_rank,
                                             options_.session.step_timeout));
  if (options_.rank < experiment_->workers()) {
    RETURN_IF_ERROR(PrepareLearning());
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Algorithm> algorithm, MakeAlgorithm());
  ASSIGN_OR_RETURN(const std::vector<IdentityItem> identity, IdentityOf(*experiment_));
  ASSIGN_OR_RETURN(every_, CheckpointsOf(*experiment_));
  if (experiment_->plan().open_ended) PrepareOpenEnd();
  RunObserver* const observer = this;
  runner_ = std::make_unique<Runner>(
      RunnerOptions{.rank = options_.rank,
                    .workers = experiment_->workers(),
                    .nodes = experiment_->config().nodes(),
                    .evaluated = experiment_->evaluated(),
                    .tells_average = options_.desk != nullptr,
                    .rounds = experiment_->rounds(),
                    .open_ended = experiment_->plan().open_ended,
                    .shares_budget = !experiment_->has_rounds(),
                    .evaluate = [this](Round completed) { return course_->Evaluated(completed); },
                    .saved = experiment_->has_rounds() ? SavedRounds(every_) : nullptr,
                    .saves_on_call = SavesOnCall(),
                    .window = experiment_->WindowFor(options_.rank),
                    .changes_views = experiment_->changes_views(),
                    .max_norm = experiment_->max_norm(),
                    .pace = PaceOf(OwnPace(*experiment_, compute_.get(), options_.rank), chaos_),
                    .trace = recording_->trace(),
                    .data_path = device_->data_path(),
                    .gradients = GradientsFrom(options_.desk)},
      recording_->Recorded(std::move(algorithm), HeaderOf(*experiment_, options_.rank, identity)),
      objective_.get(), &experiment_->layout(), &experiment_->optimizer(), observer);
  session_ = std::make_unique<NodeSession>(SessionOptions(identity), Callbacks(), runner_.get());
  if (every_) RETURN_IF_ERROR(PrepareCheckpoints());
  if (coordinates_) PrepareEvaluations();
  return absl::OkStatus();
}

void NodeRun::PrepareOpenEnd() {
  options_.desk->SetOpenEnd(
      {.parameters = experiment_->layout().parameter_size,
       .on_spent = [this](Round gradients, bool all) { session_->ReportSpent(gradients, all); }});
}

void NodeRun::PrepareEvaluations() {
  evaluations_ = std::make_unique<EvaluationThread>(
      [this](const AveragedModel& average) { return Evaluate(average); },
      [this] { runner_->OnAverageDone(); },
      [this](const absl::Status& why) { session_->Interrupt(why); });
}

absl::Status NodeRun::OnRole() {
  PrepareCollector();
  InheritedRun run;
  RETURN_IF_ERROR(guard_([&] {
    ASSIGN_OR_RETURN(run, InheritRun(options_.run_directory, experiment_->config()));
    return absl::OkStatus();
  }));
  collector_->TakeOver(run.measured, std::move(run.bytes_sent), lost_bytes_);
  for (const RunMetrics& line : run.measured) {
    if (!line.test_accuracy) continue;
    if (!met_ && horizon_.Met(line.test_accuracy)) met_ = line;
    horizon_.OnEvaluation(
        {.round = line.round, .test_loss = line.test_loss, .test_accuracy = line.test_accuracy});
  }
  RETURN_IF_ERROR(OpenRunMetrics(run.measured.empty() ? 0 : run.measured.back().round));
  if (every_) RETURN_IF_ERROR(InheritCheckpoints(run.measured));
  PrepareEvaluations();
  coordinates_ = true;
  return absl::OkStatus();
}

// Complete checkpoints stay as they are. Earlier evaluations may be missing.
absl::Status NodeRun::InheritCheckpoints(const std::vector<RunMetrics>& measured) {
  RETURN_IF_ERROR(PrepareCompletion());
  const absl::StatusOr<Checkpoint> last = FindCheckpoint(options_.run_directory);
  if (last.ok()) completion_->OnInherited(last->manifest.round());
  if (!measured.empty()) completion_->OnMeasured(measured.back().round);
  return absl::OkStatus();
}

absl::Status NodeRun::OpenRunMetrics(Round from) {
  const auto interrupt = [this](const absl::Status& why) { session_->Interrupt(why); };
  ASSIGN_OR_RETURN(std::unique_ptr<LineFile> lines,
                   LineFile::Open(MetricsPath(options_.run_directory)));
  run_metrics_ = std::make_unique<BackgroundLines>(std::move(lines), interrupt, guard_);
  if (!experiment_->config().tensorboard()) return absl::OkStatus();
  const absl::Time now = absl::Now();
  ASSIGN_OR_RETURN(std::unique_ptr<LineFile> events,
                   CreateEventFile(options_.run_directory, now, now, from));
  events_ = std::make_unique<BackgroundLines>(std::move(events), interrupt, guard_);
  return absl::OkStatus();
}

void NodeRun::PrepareCollector() {
  collector_ = std::make_unique<MetricsCollector>(
      MetricsCollector::Options{
          .size = experiment_->config().nodes(),
          .workers = experiment_->workers(),
          .has_rounds = experiment_->has_rounds(),
          .changed = experiment_->changed(),
          .measures_noise = experiment_->config().noise_scale(),
          .evaluated = [this](Round round) { return course_->Evaluated(round); },
          .at = [this](Round completed) { return course_->At(completed); }},
      [this](const RunMetrics& metrics) { Record(metrics); });
}

NodeSessionOptions NodeRun::SessionOptions(const std::vector<IdentityItem>& identity) const {
  const Config& config = experiment_->config();
  NodeSessionOptions session = options_.session;
  session.rank = options_.rank;
  session.size = config.nodes();
  session.build = absl::StrCat(Version(), " (", Revision(), ")");
  session.agreements = Agreements(identity);
  session.schema = absl::StrCat(absl::Hex(experiment_->layout().Fingerprint()));
  session.topology = GraphIdentity(*experiment_);
  session.algorithm = config.algorithm();
  session.rendezvous_timeout = ResolvedTimeout(config.rendezvous_timeout());
  session.peer_timeout = ResolvedTimeout(config.peer_timeout());
  session.min_peer_timeout = ResolvedTimeout(config.min_peer_timeout());
  session.step_timeout = ResolvedTimeout(config.step_timeout());
  session.faults = chaos_;
  session.rounds = experiment_->rounds();
  session.first_limit = horizon_.limit();
  session.open_ended = experiment_->plan().open_ended;
  session.resilient = experiment_->shrinks();
  session.min_nodes = LeastNodes(config);
  session.begin_nodes = config.min_nodes();
  session.waits = WaitsForOthers(config);
  session.workers = experiment_->workers();
  session.joins = options_.joins;
  session.settles_last = settles_last();
  if (!experiment_->role_moves()) session.role = nullptr;
  session.parts = own_parts_;
  session.resumed = resumed_;
  for (const control::Agreement& agreement : CheckpointAgreements(config, every_)) {
    session.agreements.push_back(agreement);
  }
  if (SavesOnCall()) {
    session.checkpoints = {.nodes = config.nodes(),
                           .rounds = experiment_->rounds(),
                           .begin = resumed_ ? resumed_->round() : 0,
                           .every = every_->time};
  }
  if (const auto& batches = experiment_->plan().batches; batches.plateau()) {
    session.largest_growth = batches.LargestGrowth();
  }
  if (!experiment_->has_rounds()) {
    session.budget = {.nodes = config.nodes(),
                      .workers = experiment_->workers(),
                      .window = StepsBetweenExchanges(config.algorithm()),
                      .rounds = experiment_->rounds(),
                      .settles_last = settles_last(),
                      .measured = [this](Round round) { return course_->Measured(round); },
                      .evaluated = [this](Round round) { return course_->Evaluated(round); }};
    if (resumed_) {
      session.budget->begin = resumed_->round();
      for (Rank rank = 0; rank < experiment_->workers(); ++rank) {
        session.budget->done.push_back(resumed_->parts(rank).steps());
      }
    }
  }
  if (experiment_->renews_views()) {
    session.renewals = {.begin = resumed_ ? resumed_->round() : 0,
                        .saved = SavedRounds(every_),
                        .every = every_->time};
  }
  return session;
}

NodeSessionCallbacks NodeRun::Callbacks() {
  return {.on_listening = options_.on_listening,
          .on_announced =
              [this] {
                absl::Status begun = options_.on_announced();
                return begun.ok() && !resumed_ ? OpenRunMetrics(0) : begun;
              },
          .on_metrics =
              [this](Rank rank, const control::NodeMetrics& report) {
                absl::Status status = collector_->OnNode(rank, report);
                if (!status.ok()) session_->Interrupt(std::move(status));
              },
          .on_notice = [](const std::string& notice) { LOG(WARNING) << notice; },
          .on_settled =
              [this](Round limit, int64_t growth) {
                course_->Settle(limit, growth);
                if (limit < experiment_->rounds()) course_->Close(limit);
                told_limit_ = limit;
              },
          .on_coast =
              [this](Round below, bool all) {
                if (all) options_.desk->RetireSoon();
                options_.desk->Coast(below);
              },
          .on_called =
              [this](Round round) {
                if (completion_) completion_->OnCalled(round);
              },
          .on_part = [this](Rank rank, const control::SavedPart& part) { OnPart(rank, part); },
          .on_lost = [this](Rank rank) { OnLost(rank); },
          .on_newcomer = [this](Rank rank, Round from) { OnNewcomer(rank, from); },
          .on_standing = options_.on_standing,
          .on_joined = [this](const std::vector<View>& views,
                              const control::Joined& joined) { OnJoined(views, joined); },
          .on_checkpoint =
              [this](Round round) {
                if (!checkpoints_) return;
                telemetry_.OnCheckpoint(round, std::chrono::steady_clock::now());
                checkpoints_->OnComplete(round);
              },
          .on_gathered = [this] { return OnGathered(); },
          .on_resumed = [this](const control::Resumed& resumed) { return OnResumed(resumed); },
          .on_role = [this] { return OnRole(); },
          .on_evaluations_from = [this](Round round) { collector_->NoEvaluationsBefore(round); },
          .on_start = [this] { return OnStart(); },
          .on_trained = [this](const SharedVector& model) { return OnTrained(model); },
          .on_all_done = [this] { return WriteResults(); }};
}

void NodeRun::OnPart(Rank rank, const control::SavedPart& part) {
  absl::Status status =
      completion_
          ? completion_->OnPart(rank, part)
          : absl::InvalidArgumentError(absl::StrCat("rank ", rank,
                                                    " saves checkpoints, and rank 0 does not; "
                                                    "give all the same --checkpoint-every"));
  if (!status.ok()) session_->Interrupt(std::move(status));
}

// Removes the results and the later checkpoints, before all nodes cut the lines that these rely on.
absl::Status NodeRun::OnGathered() {
  if (!resumed_) return absl::OkStatus();
  RETURN_IF_ERROR(RemoveResults(options_.run_directory));
  return InvalidateCheckpointsAfter(options_.run_directory, resumed_->round());
}

absl::Status NodeRun::OnResumed(const control::Resumed& resumed) {
  begin_ = resumed.round();
  lost_bytes_ = resumed.lost_bytes_sent();
  elapsed_before_ = std::chrono::nanoseconds(resumed.time_ns());
  for (const control::Workers& since : resumed.history()) {
    course_->Among(since.from(), since.workers());
  }
  const control::SavedPart& own = resumed.parts(options_.rank);
  telemetry_.CountFrom(own.bytes_sent(), own.bytes_received());
  if (resumed.from_mean() != (mean_.data != nullptr)) {
    return absl::InternalError("rank 0 goes on from something else than this node has");
  }
  if (resumed.from_mean()) {
    runner_->BeginIn(begin_, own.bytes_sent(), own.bytes_received());
  } else {
    RETURN_IF_ERROR(RestoreOwnPart(own));
  }
  if (coordinates_) return ContinueFiles();
  // The disk may be this node's own, with files of the time when the node had rank 0's role.
  if (HasResults(options_.run_directory)) RETURN_IF_ERROR(RemoveResults(options_.run_directory));
  if (!HasCheckpoints(options_.run_directory)) return absl::OkStatus();
  return InvalidateCheckpointsAfter(options_.run_directory, begin_);
}

absl::Status NodeRun::RestoreOwnPart(const control::SavedPart& own) {
  CheckpointPart part;
  part.set_bytes(own.bytes());
  part.set_checksum(own.checksum());
  const std::string path =
      NodePartPath(CheckpointPath(options_.run_directory, begin_), options_.rank);
  ASSIGN_OR_RETURN(NodeState state, ReadNodeState(path, options_.rank, &part));
  if (state.round != own.steps()) {
    return InputError(path, absl::StrCat("is of round ", state.round, ", not of ", own.steps()));
  }
  runner_->GoOnFrom({.state = std::move(state),
                     .checkpoint = begin_,
                     .bytes_sent = own.bytes_sent(),
                     .bytes_received = own.bytes_received()});
  return absl::OkStatus();
}

absl::Status NodeRun::ContinueFiles() {
  if (others_) RETURN_IF_ERROR(ChangeNodesOf(options_.run_directory, *others_, *experiment_));
  RETURN_IF_ERROR(KeepLinesUntil(MetricsPath(options_.run_directory), begin_).status());
  // The nodes know the limit, but not that it is final.
  if (horizon_.final()) session_->ExtendRoundLimit(horizon_.limit(), true, horizon_.growth());
  return OpenRunMetrics(begin_);
}

void NodeRun::OnJoined(const std::vector<View>& views, const control::Joined& joined) {
  joined_ = true;
  begin_ = views.back().from;
  lost_bytes_ = joined.lost_bytes_sent();
  elapsed_before_ = std::chrono::nanoseconds(joined.time_ns());
  for (const control::Workers& since : joined.history()) {
    course_->Among(since.from(), since.workers());
  }
  for (const View& view : views) course_->GoOn(view);
}

// Opens this node's files, and not earlier: if the nodes share a file system, rank 0 creates the
// folder above.
absl::Status NodeRun::OnStart() {
  if (options_.on_begun) options_.on_begun();
  start_ = std::chrono::steady_clock::now();
  telemetry_.Begin(begin_, every_.has_value(), start_);
  disk_watch_ =
      std::make_unique<DiskWatch>(options_.run_directory, WritingTime(*experiment_),
                                  [this](const absl::Status& why) { OnStalledDisk(why); });
  ASSIGN_OR_RETURN(const std::string folder, NodeFolder());
  ASSIGN_OR_RETURN(std::unique_ptr<LineFile> lines, LineFile::Open(MetricsPath(folder)));
  node_metrics_ = std::make_unique<NodeMetricsFile>(
      std::move(lines), WritingTime(*experiment_),
      [this](control::NodeMetrics report) { session_->Report(std::move(report)); });
  if (chaos_)
    RETURN_IF_ERROR(chaos_->Start(options_.run_directory, begin_, elapsed_before_, joined_));
  return recording_->BeginEvents();
}

// Reports the stalled disk to the others: the runner's thread, which otherwise reports its error
// itself, may be the one that the disk keeps. Calls on_stalled first, for the part of the program
// that ends the process: the thread that is kept may hold a lock.
void NodeRun::OnStalledDisk(const absl::Status& why) {
  options_.on_stalled(why);
  session_->ReportLoss(options_.rank, why);
  session_->Interrupt(why);
}

// Keeps what the process before this one has written until round begin_, and all its counts.
absl::StatusOr<std::string> NodeRun::ContinueNodeFolder() {
  ASSIGN_OR_RETURN(std::string folder, CreateNodeDirectory(options_.run_directory, options_.rank));
  const EarlierTraffic::Node before = TrafficOf(options_.run_directory, options_.rank);
  runner_->CountOn(before.bytes_sent, before.bytes_received);
  telemetry_.CountFrom(before.bytes_sent, before.bytes_received);
  RETURN_IF_ERROR(KeepLinesUntil(MetricsPath(folder), begin_).status());
  return folder;
}

absl::StatusOr<std::string> NodeRun::NodeFolder() {
  const Config& config = experiment_->config();
  RemoveAbandonedFiles(options_.run_directory);  // no other process does on the node's own disk
  if (joined_) return ContinueNodeFolder();
  if (!config.has_resume()) {
    return PrepareNodeDirectory(options_.run_directory, options_.rank, config.overwrite());
  }
  ASSIGN_OR_RETURN(std::string folder, CreateNodeDirectory(options_.run_directory, options_.rank));
  RETURN_IF_ERROR(KeepLinesUntil(MetricsPath(folder), begin_).status());
  return folder;
}

void NodeRun::OnState(SavedNode saved) {
  const std::chrono::nanoseconds time = Elapsed(saved.at);
  checkpoints_->Save(std::move(saved), time);
}

absl::Status NodeRun::OnRound(const RoundReport& report, const BoundaryModel&) {
  mean_ = {};  // the algorithm has begun
  if (objective_) {
    const int64_t passes = course_->PassesIn(report.completed - 1).count;
    work_.AddGradient(report.loss, passes, report.gradient, report.noise, report.norms);
  }
  work_.mix += report.mix;
  if (report.awaited) {
    work_.awaited.Add(*report.awaited, report.waited);
    telemetry_.OnWait(*report.awaited, report.waited);
  }
  work_.time += report.time;
  telemetry_.OnRound(report.completed, report.time);
  recording_->OnRound(report);
  if (chaos_) chaos_->OnRound(report.completed);
  return node_metrics_->Check();
}

absl::Status NodeRun::OnCut(const CutReport& cut, const BoundaryModel& model) {
  telemetry_.OnTraffic(cut.bytes_sent, cut.bytes_received);
  if (!course_->Measured(cut.round)) return absl::OkStatus();
  NodeWork work = std::exchange(work_, {});
  const std::chrono::nanoseconds time = Elapsed(std::chrono::steady_clock::now());
  const bool shares_budget = !experiment_->has_rounds();
  if (shares_budget) ledger_.Add(time, &work);
  const int64_t batch = experiment_->config().batch();
  NodeMetrics metrics =
      MeasureNode(course_->At(cut.round), time, work, batch, experiment_->problem().learns());
  if (shares_budget) ledger_.Describe(work, runner_->staleness(), &metrics);
  metrics.bytes_sent_total = cut.bytes_sent;
  metrics.bytes_received_total = cut.bytes_received;
  telemetry_.OnLine(metrics, work.passes * batch);

  control::NodeMetrics report;
  report.set_round(metrics.round);
  report.set_time_s(metrics.time_s);
  report.set_samples(work.passes * batch);
  report.set_bytes_sent(cut.bytes_sent);
  report.set_bytes_received(cut.bytes_received);
  if (work.noise.gradients > 0) {
    control::GradientNoise& noise = *report.mutable_noise();
    noise.set_variance(work.noise.variance);
    noise.set_square(work.noise.square);
    noise.set_gradients(work.noise.gradients);
  }
  if (work.gradients > 0) *report.mutable_steps() = ToReport(StepsOf(work, metrics));
  if (objective_) AddWaits(work.awaited, &report);
  if (evaluator_) {
    // The sum of a report is over all its samples: those whose losses are known stand for the rest.
    if (work.losses > 0) {
      const double known = static_cast<double>(work.passes) / static_cast<double>(work.losses);
      report.set_train_loss_sum(work.loss_sum * known * static_cast<double>(batch));
    }
    ASSIGN_OR_RETURN(const Sketch sketch, model.SketchOf(experiment_->layout().parameter_size,
                                                         experiment_->config().seed()));
    report.mutable_sketch()->Add(sketch.begin(), sketch.end());
  }
  node_metrics_->Add(ToJsonLine(metrics), std::move(report));
  return node_metrics_->Check();
}

absl::Status NodeRun::OnTrained(const SharedVector& model) {
  if (options_.desk != nullptr) options_.desk->Finish(model);
  RETURN_IF_ERROR(node_metrics_->Drain());
  if (coordinates_) {
    RETURN_IF_ERROR(evaluations_->Drain());
  }
  if (checkpoints_) RETURN_IF_ERROR(checkpoints_->Drain(WritingDeadline()));
  RETURN_IF_ERROR(recording_->WritePart(model));
  if (!experiment_->has_rounds()) RETURN_IF_ERROR(ReportTotals());
  if (!evaluator_) return absl::OkStatus();
  const absl::StatusOr<Evaluation> local = evaluator_->Evaluate(model);
  if (!local.ok()) return InEvaluation(runner_->progress().round, local.status());
  absl::Status status = WriteNodeModel(*experiment_, options_.rank, model, node_directory_);
  return status.ok() ? ReportLocalModel(*local) : status;
}

absl::Status NodeRun::InEvaluation(Round round, const absl::Status& why) const {
  return Explained(absl::StrCat("evaluation of round ", round), why);
}

absl::Status NodeRun::Explained(std::string_view when, const absl::Status& why) const {
  absl::Status status(why.code(), absl::StrCat("rank ", options_.rank, ", ", std::string(when),
                                               ": ", std::string(why.message())));
  const Failure known = FailureOf(why);
  if (known != Failure::kOther) return WithFailure(std::move(status), known);
  return experiment_->config().device() == "cpu" ? status
                                                 : WithFailure(std::move(status), Failure::kDevice);
}

absl::Status NodeRun::ReportLocalModel(const Evaluation& local) {
  if (!local.accuracy) return absl::OkStatus();
  control::NodeMetrics report;
  report.set_round(runner_->progress().round);
  if (local.loss) report.set_test_loss(*local.loss);
  report.set_test_accuracy(*local.accuracy);
  return session_->ReportAtRest(std::move(report));
}

absl::Status NodeRun::ReportTotals() {
  const NodeTotals totals = ledger_.totals(runner_->staleness());
  control::NodeMetrics report;
  control::NodeTotals& told = *report.mutable_totals();
  told.set_gradients(totals.gradients);
  told.set_computing_s(totals.gradient_s);
  told.set_time_s(totals.time_s);
  told.set_applied(totals.applied);
  told.set_staleness_mean(totals.staleness_mean);
  told.set_staleness_max(totals.staleness_max);
  return session_->ReportAtRest(std::move(report));
}

absl::Status NodeRun::Evaluate(const AveragedModel& average) {
  const absl::StatusOr<EvaluationRecord> evaluation =
      EvaluateAverage(average, course_->plan().EvaluationSamples(average.round), *evaluator_);
  if (!evaluation.ok()) return InEvaluation(average.round, evaluation.status());
  options_.on_average(average);
  // The node that had the role before may have moved the limit, or met the target without saying
  // so.
  const bool followed = options_.rank != 0 || options_.joins;
  if (followed) horizon_.CatchUp(told_limit_);
  if (told_limit_ < experiment_->rounds()) horizon_.Close(told_limit_);
  const bool met_before = horizon_.reached();
  const bool moved = horizon_.OnEvaluation(*evaluation) || (followed && horizon_.final());
  // Once the end is settled, no other node could evaluate that model.
  const bool written_first = experiment_->role_moves() && horizon_.final();
  if (moved && !written_first) ExtendRoundLimit();
  collector_->OnEvaluation(*evaluation);
  // The model that met the target is kept.
  if (!met_before) {
    RETURN_IF_ERROR(WriteAveragedModel(*experiment_, average, options_.run_directory, guard_));
  }
  if (moved && written_first) ExtendRoundLimit();
  return absl::OkStatus();
}

void NodeRun::ExtendRoundLimit() {
  session_->ExtendRoundLimit(horizon_.limit(), horizon_.final(), horizon_.growth());
}

void NodeRun::Record(const RunMetrics& metrics) {
  if (!met_ && horizon_.Met(metrics.test_accuracy)) {
    met_ = metrics;
    if (completion_) completion_->OnOver(metrics.round);
  }
  run_metrics_->Append(ToJsonLine(metrics));
  if (events_) events_->AppendRecord(EventRecord(metrics, absl::Now()));
  if (completion_) completion_->OnMeasured(metrics.round);
  options_.on_metrics(metrics);
}

std::chrono::steady_clock::time_point NodeRun::WritingDeadline() const {
  return std::chrono::steady_clock::now() + WritingTime(*experiment_);
}

absl::Status NodeRun::WriteResults() {
  if (settles_last()) {
    RETURN_IF_ERROR(
        CheckResultsAreHere(options_.run_directory, collector_->latest().round, round()));
  }
  const auto deadline = WritingDeadline();
  RETURN_IF_ERROR(run_metrics_->Drain(deadline));
  if (events_) RETURN_IF_ERROR(events_->Drain(deadline));
  if (completion_) {
    RETURN_IF_ERROR(completion_->Drain(deadline));
    RETURN_IF_ERROR(guard_([this] { return RemoveIncompleteCheckpoints(options_.run_directory); }));
  }
  RETURN_IF_ERROR(WriteSummary());
  return guard_([this] { return recording_->Join(); });
}

absl::Status NodeRun::WriteSummary() {
  const RunMetrics latest = collector_->latest();
  Summary summary = SummaryOf(*experiment_, *course_, collector_->lost(), latest, met_);
  summary.wall_time_s = latest.time_s;
  summary.local_test_accuracy = collector_->local_test_accuracy();
  summary.server_links = collector_->server_links();
  AddSteps(collector_->steps(), &summary);
  AddLongestWaits(collector_->waits(), &summary);
  if (const std::vector<NodeTotals> totals = collector_->totals(); !totals.empty()) {
    AddTotals(totals, experiment_->workers(), &summary);
  }
  return grapevine::WriteSummary(options_.run_directory, summary, guard_);
}

}  // namespace grapevine
