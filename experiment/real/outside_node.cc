#include "experiment/real/outside_node.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/printable.h"
#include "base/status.h"
#include "experiment/core/run_checkpoints.h"
#include "experiment/core/run_plan.h"
#include "experiment/core/setting_checks.h"
#include "experiment/real/dashboard.h"
#include "experiment/real/node_addresses.h"
#include "experiment/real/node_device.h"
#include "experiment/real/node_options.h"
#include "kernels/passes/mix_and_step.h"
#include "model/problem/averaged_model.h"
#include "model/problem/outside_problem.h"
#include "node/discovery/discovery.h"
#include "run/config/config_field.h"
#include "run/config/config_resolve.h"
#include "run/records/revision.h"
#include "system/deadline.h"
#include "system/file_descriptor.h"

namespace grapevine {
namespace {

constexpr size_t kMaxShown = 100;
// The time in which the other nodes hear that this one has failed, and its threads end, if its disk
// lets them.
constexpr std::chrono::seconds kFarewell{8};
constexpr char kAbandoned[] = "the program that computed its gradients has left the run";

// Completes the configuration for the run's files. Clears the settings of the simulation: readers
// of a run's directory take a run with a simulated network for simulated.
void CompleteForRecords(Config* config) {
  for (const ConfigField* field : ConfigFields()) {
    if (InfoOf(*field).section() == SIMULATION) ClearField(*field, config);
  }
  config->set_version(Version());
  config->set_revision(Revision());
}

absl::StatusOr<ResolvedConfig> Resolve(std::map<std::string, std::string> settings) {
  ConfigSources sources{.environment = ConfigEnvironment()};
  if (const auto file = settings.extract("config")) sources.file = file.mapped();
  for (const auto& [name, text] : settings) {
    if (name != "model" && name != "data") continue;
    return UsageError(absl::StrCat("--", name, "=", text,
                                   ": the program that computes the gradients has the model and "
                                   "the data; leave it out"));
  }
  settings["model"] = kOutsideModel;
  sources.flags = std::move(settings);
  absl::StatusOr<ResolvedConfig> resolved = ResolveConfig(sources);
  if (resolved.ok()) CompleteForRecords(&resolved->config);
  return resolved;
}

bool IsGiven(const ResolvedConfig& resolved, const char* name) {
  return resolved.OriginOf(name).source != Source::kDefault;
}

// Makes a run open-ended if its length is not given: its programs then say when it ends.
void LeaveOpen(ResolvedConfig* resolved) {
  if (IsGiven(*resolved, "epochs") || IsGiven(*resolved, "rounds")) return;
  resolved->config.clear_epochs();
  resolved->config.set_rounds(kOpenEndedRounds);
}

// Makes evaluations and measurements less frequent. Without data an epoch is a round: to evaluate
// and to measure after each would take longer than many a step.
void ThinOut(ResolvedConfig* resolved) {
  constexpr int64_t kLines = 1000;  // more than a picture shows
  constexpr int64_t kSome = 10;     // rounds, of a run of unknown length
  Config& config = resolved->config;
  if (!IsGiven(*resolved, "eval_every")) {
    config.set_eval_every(static_cast<double>(config.rounds()));
  }
  if (IsGiven(*resolved, "log_every")) return;
  config.set_log_every(IsOpenEnded(config) ? kSome
                                           : std::max<int64_t>(1, config.rounds() / kLines));
}

// Refuses settings about gradients that Grapevine computes: what is done to them, and what is
// measured of them.
absl::Status CheckOfOthers(const Config& config) {
  for (const char* name : {"accumulate", "batch_schedule", "clip_norm", "device", "noise_scale",
                           "norms", "profile", "record", "slow", "straggler"}) {
    const ConfigField& field = ConfigFieldNamed(name);
    const std::string text = FieldText(field, config);
    if (text == FieldText(field, Config())) continue;
    return UsageError(absl::StrCat(FlagName(field), "=", text,
                                   ": is about gradients that Grapevine computes; here another "
                                   "program does"));
  }
  return absl::OkStatus();
}

// Checks that a step subtracts a gradient as it is.
absl::Status TakesUpdates(const Experiment& experiment) {
  const Config& config = experiment.config();
  const bool plain = experiment.learning_rate() == 1 && config.momentum() == 0 &&
                     config.weight_decay() == 0 && config.optimizer() == "sgd" &&
                     config.schedule() == "constant";
  if (plain) return absl::OkStatus();
  return UsageError(
      "who has an update rule of its own wants no second one: give optimizer=sgd, lr=1, "
      "momentum=0, weight_decay=0, schedule=constant and no scale_lr");
}

// Checks that an open-ended run can end wherever its programs do.
absl::Status CheckOpenEnd(const Experiment& experiment) {
  if (!experiment.plan().open_ended) return absl::OkStatus();
  if (!experiment.has_rounds()) {
    return UsageError(absl::StrCat("--algorithm=", experiment.config().algorithm(),
                                   ": its nodes share a budget of gradients; say how many with "
                                   "rounds, for each node"));
  }
  // A server hears of the end from rank 0, and of the last gradients from other nodes, maybe
  // before.
  if (experiment.workers() < experiment.config().nodes()) {
    return UsageError(absl::StrCat("--algorithm=", experiment.config().algorithm(),
                                   ": its servers must know the end before they come to it; say "
                                   "how many rounds the run has"));
  }
  if (TakesUpdates(experiment).ok()) return absl::OkStatus();
  return UsageError(
      "--optimizer: a node whose program has ended takes steps that change nothing, and this "
      "optimizer's do; say how many rounds the run has, or take an update rule of your own "
      "(optimizer=sgd, lr=1, momentum=0, weight_decay=0, schedule=constant)");
}

// The place of the files of this node's run.
struct Place {
  std::unique_ptr<const TemporaryFolder> temporary;
  RunReservation folder;
};

absl::StatusOr<Place> PlaceOfFiles(Config& config, Rank rank) {
  std::unique_ptr<const TemporaryFolder> temporary;
  if (config.has_resume() && !config.has_out()) config.set_out(RunOf(config.resume()));
  if (!config.has_out()) {
    ASSIGN_OR_RETURN(temporary, TemporaryFolder::Make());
    config.set_out(absl::StrCat(temporary->path(), "/run"));
  }
  if (rank == 0 && !config.join()) {
    ASSIGN_OR_RETURN(RunReservation folder, ReserveRun(config, absl::Now()));
    return Place{std::move(temporary), std::move(folder)};
  }
  if (config.has_resume()) RETURN_IF_ERROR(ResumedRun(config).status());
  return Place{std::move(temporary), RunReservation(LockedFolder{config.out(), nullptr})};
}

// Returns `why`, the error for which this node cannot begin. On rank 0, first tells the other
// nodes, which may be waiting.
absl::Status Told(NodeRunOptions& options, const Config& config, absl::Status why) {
  if (options.rank != 0 || options.joins) return why;
  options.session.size = config.nodes();
  TellOfFailedStart(options.session, why);
  return why;
}

}  // namespace

absl::StatusOr<NodeIdentity> OutsideNode::Identify(
    const std::map<std::string, std::string>& settings) {
  ASSIGN_OR_RETURN(ResolvedConfig resolved, Resolve(settings));
  ASSIGN_OR_RETURN(const CoordinatorPlace where,
                   PlaceOfCoordinator(resolved.config, /*launched=*/false));
  return IdentifyNode(where, &resolved, /*alone=*/true);
}

absl::StatusOr<std::unique_ptr<OutsideNode>> OutsideNode::Join(
    const std::map<std::string, std::string>& settings, OutsideModel model) {
  ASSIGN_OR_RETURN(ResolvedConfig resolved, Resolve(settings));
  Config& config = resolved.config;
  RETURN_IF_ERROR(ValidateForRealNodes(resolved));
  RETURN_IF_ERROR(CheckOnRealNodes(config));
  RETURN_IF_ERROR(CheckOfOthers(config));
  LeaveOpen(&resolved);
  ThinOut(&resolved);
  ASSIGN_OR_RETURN(const CoordinatorPlace where, PlaceOfCoordinator(config, /*launched=*/false));
  ASSIGN_OR_RETURN(const NodeIdentity identity, IdentifyNode(where, &resolved, /*alone=*/true));
  const bool alone = identity.rank.origin == kNobody;  // nobody finds such a node
  ASSIGN_OR_RETURN(const NodeAddresses addresses, AddressesOf(config, identity, alone));
  ASSIGN_OR_RETURN(TokenSource token, NodeToken(config, addresses));
  ASSIGN_OR_RETURN(NodeRunOptions options,
                   NodeOptionsOf(config, identity, addresses, where, std::move(token.secret),
                                 /*role_folder=*/std::nullopt));
  // Checked before any files exist.
  absl::Status watched = options.rank == 0 ? DashboardText(config).status() : absl::OkStatus();
  if (!watched.ok()) return Told(options, config, std::move(watched));
  absl::StatusOr<Place> place = PlaceOfFiles(config, options.rank);
  if (!place.ok()) return Told(options, config, place.status());
  absl::StatusOr<std::unique_ptr<Experiment>> experiment =
      Experiment::BuildFor(std::make_unique<OutsideProblem>(
                               std::move(model.layout), std::move(model.initial), config.batch()),
                           config);
  if (!experiment.ok()) return Told(options, config, NamingOrigin(resolved, experiment.status()));
  if (absl::Status fits = CheckOpenEnd(**experiment); !fits.ok()) {
    return Told(options, config, std::move(fits));
  }
  absl::StatusOr<std::unique_ptr<HttpServer>> dashboard =
      OpenDashboard(config, options.rank, place->folder.path());
  if (!dashboard.ok()) return Told(options, config, dashboard.status());
  std::unique_ptr<OutsideNode> node(
      new OutsideNode(*std::move(experiment), std::move(place->folder), std::move(place->temporary),
                      *std::move(dashboard)));
  node->Begin(std::move(options));
  return node;
}

OutsideNode::OutsideNode(std::unique_ptr<Experiment> experiment, RunReservation folder,
                         std::unique_ptr<const TemporaryFolder> temporary,
                         std::unique_ptr<const HttpServer> dashboard)
    : experiment_(std::move(experiment)),
      temporary_(std::move(temporary)),
      folder_(std::move(folder)),
      dashboard_(std::move(dashboard)) {}

OutsideNode::~OutsideNode() {
  Interrupt(WithFailure(absl::CancelledError(kAbandoned), Failure::kTerminated));
  if (thread_.joinable()) thread_.join();
}

bool OutsideNode::Stalled() {
  MutexLock lock(mutex_);
  return stalled_.has_value();
}

void OutsideNode::Release(std::unique_ptr<OutsideNode> node) {
  if (!node->Stalled()) return;
  // A call that is over lets go of what it holds. BoundedCall waits for the call until the
  // deadline.
  BoundedCall().Run([kept = std::shared_ptr<OutsideNode>(std::move(node))] {},
                    std::chrono::steady_clock::now() + kFarewell);
}

void OutsideNode::Begin(NodeRunOptions options) {
  rank_ = options.rank;
  options.run_directory = folder_.path();
  options.locks = true;
  options.on_announced = [this] { return folder_.Begin(); };
  options.desk = desk_;
  options.on_listening = [](const HostAddress&) { return absl::OkStatus(); };
  options.on_metrics = [this](const RunMetrics& metrics) {
    MutexLock lock(mutex_);
    latest_ = metrics;
  };
  options.on_stalled = [this](const absl::Status& why) { OnStalled(why); };
  options.on_average = [this](const AveragedModel& average) {
    const std::span<const float> model = average.model.span();
    Average copy{average.round, {model.begin(), model.end()}, average.consensus_distance};
    MutexLock lock(mutex_);
    average_ = std::move(copy);
  };
  run_ = std::make_unique<NodeRun>(experiment_.get(), std::move(options));
  const SignalsAreForOthers meanwhile;  // signals are the caller's
  thread_ = std::thread([this] { Run(); });
}

void OutsideNode::Run() {
  const absl::Status how = run_->Run();
  if (!how.ok()) desk_->Close(how);
  MutexLock lock(mutex_);
  end_ = how;
  changed_.NotifyAll();
}

void OutsideNode::OnStalled(const absl::Status& why) {
  desk_->Close(why);
  MutexLock lock(mutex_);
  stalled_ = why;
  changed_.NotifyAll();
}

absl::StatusOr<std::string> OutsideNode::SettingOf(std::string_view name) const {
  for (const ConfigField* field : ConfigFields()) {
    if (field->name() == name) return FieldText(*field, experiment_->config());
  }
  return UsageError(absl::StrCat("\"", Printable(name, kMaxShown), "\": there is no such setting"));
}

absl::StatusOr<std::optional<GradientDesk::Task>> OutsideNode::Await(
    std::chrono::steady_clock::time_point deadline) {
  return desk_->Await(deadline);
}

// For buffers, v <- (1 - m) v + m b has become `weights`, which gives b (ReplicaLayout).
absl::Status OutsideNode::DeliverWeights(const GradientDesk::Task& task, const float* weights,
                                         double loss) {
  RETURN_IF_ERROR(TakesUpdates(*experiment_));
  const ReplicaLayout& layout = experiment_->layout();
  const float* const before = task.replica.data.get();
  float* const gradient = task.gradient.data.get();
  const int64_t buffers = layout.parameter_size;
  const WeightedVector update[] = {{1, before}, {-1, weights}};
  WeightedSum(update, buffers, gradient);
  // If nothing moves a buffer, its gradient may be anything.
  const float momentum = layout.buffer_momentum > 0 ? layout.buffer_momentum : 1;
  const WeightedVector batch[] = {{1 / momentum, weights + buffers},
                                  {1 - 1 / momentum, before + buffers}};
  WeightedSum(batch, layout.size - buffers, gradient + buffers);
  return Deliver(loss);
}

absl::Status OutsideNode::Retire(bool all) {
  if (!experiment_->plan().open_ended) {
    return UsageError(absl::StrCat("--rounds=", experiment_->rounds(),
                                   ": the run ends then, and not before; leave it out, and it ends "
                                   "when its programs do"));
  }
  run_->Retire(all);
  return absl::OkStatus();
}

std::optional<absl::Status> OutsideNode::AwaitEnd(std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(mutex_);
  while (!end_ && !stalled_ && std::chrono::steady_clock::now() < deadline) {
    changed_.WaitUntil(mutex_, deadline);
  }
  return end_ ? end_ : stalled_;
}

void OutsideNode::Interrupt(absl::Status why) {
  {
    MutexLock lock(mutex_);
    if (end_) return;
  }
  run_->Interrupt(std::move(why));
}

std::optional<OutsideNode::Average> OutsideNode::average() {
  MutexLock lock(mutex_);
  return average_;
}

std::optional<RunMetrics> OutsideNode::latest() {
  MutexLock lock(mutex_);
  return latest_;
}

}  // namespace grapevine
