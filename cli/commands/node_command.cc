#include <fcntl.h>
#include <glog/logging.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status.h"
#include "cli/commands/commands.h"
#include "cli/commands/experiment_command.h"
#include "cli/commands/sweep_command.h"
#include "cli/flags/config_flags.h"
#include "cli/terminal/interruption.h"
#include "cli/terminal/logging.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/run_text.h"
#include "cli/terminal/sure_end.h"
#include "cli/terminal/text_output.h"
#include "experiment/core/experiment.h"
#include "experiment/core/failure_policy.h"
#include "experiment/core/run_checkpoints.h"
#include "experiment/core/setting_checks.h"
#include "experiment/real/dashboard.h"
#include "experiment/real/descriptor_needs.h"
#include "experiment/real/node_addresses.h"
#include "experiment/real/node_device.h"
#include "experiment/real/node_options.h"
#include "experiment/real/node_run.h"
#include "node/discovery/discovery.h"
#include "node/launch/launch_variables.h"
#include "node/node_session.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/config/config_field.h"
#include "run/config/config_resolve.h"
#include "run/records/metrics.h"
#include "run/records/output_file.h"
#include "run/records/run_directory.h"
#include "run/records/run_standing.h"
#include "system/background.h"
#include "system/file_descriptor.h"

namespace grapevine {
namespace {

constexpr char kNodeExamples[] =
    "Examples:\n"
    "  grapevine node --rank=1 --world-size=4 --master-addr=10.0.0.1 --tls-ca=ca.pem "
    "--tls-cert=node.pem --tls-key=node.key --topology=ring --out=run1\n"
    "  srun grapevine node --config=experiment.textproto --insecure --out=/shared/run1";

// Returns the descriptor that a launcher left open for this process, as the variable has it.
std::optional<int> InheritedDescriptor(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::string_view view(text);
  int descriptor = -1;
  const auto parsed = std::from_chars(view.begin(), view.end(), descriptor);
  if (parsed.ec != std::errc() || parsed.ptr != view.end() || descriptor < 0) return std::nullopt;
  return descriptor;
}

absl::Status TellPort(int descriptor, const HostAddress& address) {
  const std::string line = absl::StrCat(address.port, "\n");
  const bool told = write(descriptor, line.data(), line.size()) == ssize_t(line.size());
  close(descriptor);
  return told ? absl::OkStatus() : absl::InternalError("the launcher does not take rank 0's port");
}

void TellLauncher(int descriptor, const std::string& words) {
  const std::string line = words + "\n";
  (void)!write(descriptor, line.data(), line.size());
}

// Reports the run's progress, to a launcher or as lines to the terminal, and never waits for
// either.
class ProgressReport {
 public:
  ProgressReport(ProgressGoal goal, bool json)
      : goal_(goal), json_(json), descriptor_(InheritedDescriptor(kProgressDescriptorVariable)) {
    if (descriptor_) {
      fcntl(*descriptor_, F_SETFL, fcntl(*descriptor_, F_GETFL) | O_NONBLOCK);
    } else {
      terminal_ = std::make_shared<BackgroundWriter>(
          STDOUT_FILENO, "the standard output",
          [json](int64_t dropped) { return DroppedLines(dropped, json); });
    }
  }

  void operator()(const RunMetrics& metrics) const {
    if (terminal_) {
      terminal_->Write((json_ ? JsonLine(metrics) : ProgressLine(metrics, goal_)) + "\n");
      return;
    }
    TellLauncher(*descriptor_, ToJsonLine(metrics));
  }

  // Reports where the nodes are, to a launcher alone, which knows whether somebody watches a
  // terminal.
  void operator()(const RunStanding& standing) const {
    if (descriptor_) TellLauncher(*descriptor_, ToJsonLine(standing));
  }

  // Writes what still waits for its reader, once the run is over.
  absl::Status Finish() const {
    return terminal_ ? AsOutputStatus(terminal_->Drain()) : absl::OkStatus();
  }

 private:
  const ProgressGoal goal_;
  const bool json_;
  const std::optional<int> descriptor_;
  std::shared_ptr<BackgroundWriter> terminal_;
};

bool Launched() { return std::getenv(kLaunchedVariable) != nullptr; }

// Returns the options of this node. A launcher, if the node has one, says where rank 0's role is
// kept, and to which descriptors the node reports.
absl::StatusOr<NodeRunOptions> Options(const Config& config, const NodeIdentity& identity,
                                       const NodeAddresses& addresses,
                                       const CoordinatorPlace& place, std::string token) {
  const char* const folder = Launched() ? std::getenv(kRoleVariable) : nullptr;
  ASSIGN_OR_RETURN(NodeRunOptions options,
                   NodeOptionsOf(config, identity, addresses, place, std::move(token),
                                 folder == nullptr ? std::nullopt : std::optional(folder)));
  options.locks = !Launched();
  options.launcher = InheritedDescriptor(kLauncherDescriptorVariable);
  options.on_begun = [rank = options.rank, launcher = options.launcher] {
    if (launcher) TellLauncher(*launcher, absl::StrCat("in ", rank));
  };
  options.on_listening = [](const HostAddress& address) {
    const std::optional<int> port = InheritedDescriptor(kPortDescriptorVariable);
    return port ? TellPort(*port, address) : absl::OkStatus();
  };
  return options;
}

// Reserves the run directory for rank 0 of a cluster; a launcher has made it already, and holds its
// lock. The other ranks take no lock: they may share the directory.
absl::StatusOr<RunReservation> ReserveRunDirectory(const Config& config, Rank rank) {
  if (rank == 0 && !config.join() && !Launched()) return ReserveRun(config, absl::Now());
  if (config.has_resume()) RETURN_IF_ERROR(ResumedRun(config).status());
  return RunReservation(LockedFolder{config.out(), nullptr});
}

// Undoes the reservation, and returns `why`, with which the run ended before it began.
absl::Status Undone(RunReservation& directory, const absl::Status& why) {
  if (absl::Status status = directory.Undo(); !status.ok()) LOG(WARNING) << status.message();
  return why;
}

// Adds how to go on to rank 0's error, unless a launcher, which sees all nodes end, says so itself.
absl::Status WithCheckpoint(const Config& config, Rank rank, Round rounds,
                            const absl::Status& why) {
  return rank == 0 && !config.join() && !Launched() ? NamingWhatIsKept(config.out(), rounds, why)
                                                    : why;
}

// Prints the opening. Rank 0 reports on the run; the others only say that they are in it, and
// where.
absl::Status SayOpening(const Experiment& experiment, Rank rank, const std::string& node_text) {
  if (Launched()) return absl::OkStatus();
  std::cout << node_text;
  if (rank == 0 && !experiment.config().join()) {
    std::cout << Opening(experiment) << "run directory: " << experiment.config().out() << "\n";
  }
  return FlushStandardOutput();
}

absl::Status SayClosing(const Config& config, Rank rank, bool has_results) {
  if (Launched()) return absl::OkStatus();
  if (!has_results) {
    std::cout << "rank " << rank << " is done: " << NodeDirectory(config.out(), rank) << std::endl;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::string closing, ClosingText(config, config.out()));
  std::cout << closing << std::flush;
  return absl::OkStatus();
}

// Returns whether the node was told to end and the others go on without it: a node that a cluster
// takes away has not failed. A node that `train` has started tells `train` how it has ended.
bool HasLeft(const NodeRun& run, const absl::Status& why) {
  return FailureOf(why) == Failure::kTerminated && run.others_go_on() && !Launched();
}

absl::Status SayLeft(Rank rank, const absl::Status& why) {
  std::cout << "rank " << rank << " has left the run: " << why.message() << std::endl;
  return absl::OkStatus();
}

absl::Status RequireOut(Config& config) {
  if (config.has_resume() && !config.has_out()) config.set_out(RunOf(config.resume()));
  if (config.has_out()) return absl::OkStatus();
  return UsageError(
      "--out is needed: the run directory, the same on all nodes where "
      "they share a file system");
}

absl::Status CheckNode(const Config& config, Rank rank) {
  RETURN_IF_ERROR(CheckDevice(config));
  return rank == 0 && !config.join() ? CheckRecordings(config) : absl::OkStatus();
}

// Returns what SIGTERM does to a run that keeps checkpoints; absent for other runs.
std::optional<Interruption::Saving> SavingOf(const Config& config, NodeRun& run) {
  if (!SavesBeforeItEnds(config)) return std::nullopt;
  return Interruption::Saving{
      .begin = [&run](const absl::Status& why) { run.EndWithCheckpoint(why); },
      .patience = kSavingPatience,
      .launched = Launched(),
      .echo = kTerminationEcho};
}

absl::Status CarryOut(const Config& config, const Experiment& experiment, NodeRunOptions options,
                      const std::string& node_text) {
  const Rank rank = options.rank;
  const bool json = config.log_format() == "json";
  const BackgroundLog log([json](int64_t dropped) { return DroppedLines(dropped, json); });
  ASSIGN_OR_RETURN(RunReservation directory, ReserveRunDirectory(config, rank));
  RETURN_IF_ERROR(SayOpening(experiment, rank, node_text));
  ASSIGN_OR_RETURN(const auto dashboard, OpenDashboard(config, rank, directory.path()));
  options.run_directory = directory.path();
  options.on_announced = [&directory] { return directory.Begin(); };
  const Round rounds = experiment.rounds();
  const ProgressReport progress({.rounds = rounds, .epochs = experiment.plan().Epoch(rounds)},
                                json);
  options.on_metrics = progress;
  options.on_standing = progress;

  // These outlive the run, and do not wait for it.
  std::optional<SureEnd> end, stalled;
  options.on_stalled = [&stalled](const absl::Status& why) {
    stalled.emplace("grapevine node", why);
  };
  NodeRun run(&experiment, std::move(options));
  ASSIGN_OR_RETURN(std::unique_ptr<Interruption> interruption,
                   Interruption::Watch([&run](const absl::Status& why) { run.Interrupt(why); },
                                       SavingOf(config, run)));
  if (absl::Status status = run.Run(); !status.ok()) {
    if (HasLeft(run, status)) return SayLeft(rank, status);
    end.emplace("grapevine node", status);
    return run.began() ? WithCheckpoint(config, rank, rounds, status) : Undone(directory, status);
  }
  interruption.reset();  // only a reader is awaited now: signals act as usual
  RETURN_IF_ERROR(progress.Finish());
  return SayClosing(config, rank, run.coordinates());
}

// Builds the experiment, after checks of what this machine can do as this rank.
absl::StatusOr<std::unique_ptr<Experiment>> BuildForNode(const Config& config, Rank rank) {
  RETURN_IF_ERROR(CheckNode(config, rank));
  ASSIGN_OR_RETURN(std::unique_ptr<Experiment> experiment, Experiment::Build(config));
  RETURN_IF_ERROR(ProvideDescriptors(*experiment));
  return experiment;
}

absl::Status BuildAndCarryOut(const Config& config, NodeRunOptions options,
                              const std::string& node_text) {
  ASSIGN_OR_RETURN(std::unique_ptr<Experiment> experiment, BuildForNode(config, options.rank));
  return CarryOut(config, *experiment, std::move(options), node_text);
}

// Carries out the run. The other nodes hear why rank 0 cannot begin: from its session once that
// listens, before that from here.
absl::Status RunInEarshot(const Config& config, NodeRunOptions options,
                          const std::string& node_text) {
  NodeSessionOptions session = options.session;
  session.size = config.nodes();
  bool heard = Launched() || options.rank != 0 || options.joins;
  options.on_listening = [&heard, listening = options.on_listening](const HostAddress& address) {
    heard = true;
    return listening(address);
  };
  const absl::Status status = BuildAndCarryOut(config, std::move(options), node_text);
  if (!status.ok() && !heard) {
    LOG(ERROR) << "rank 0 cannot begin, and tells the others: " << status.message();
    TellOfFailedStart(session, status);
  }
  return status;
}

absl::Status RunNode(ResolvedConfig& resolved, bool dry_run) {
  RaiseDescriptorLimit();
  const Config& config = resolved.config;
  RETURN_IF_ERROR(ValidateForRealNodes(resolved));
  RETURN_IF_ERROR(CheckSettingsMatter({{.resolved = resolved, .coordinates = {}, .label = ""}}));
  RETURN_IF_ERROR(CheckOnRealNodes(resolved.config));
  ASSIGN_OR_RETURN(const CoordinatorPlace place, PlaceOfCoordinator(config, Launched()));
  ASSIGN_OR_RETURN(NodeIdentity identity, IdentifyNode(place, &resolved));
  RETURN_IF_ERROR(RequireOut(resolved.config));
  ASSIGN_OR_RETURN(NodeAddresses addresses, AddressesOf(config, identity, Launched()));
  ASSIGN_OR_RETURN(TokenSource token, NodeToken(config, addresses));
  if (!token.warning.empty()) LOG(WARNING) << token.warning;
  ASSIGN_OR_RETURN(NodeRunOptions options,
                   Options(config, identity, addresses, place, token.secret));
  const Discovery* discovery = options.session.discovery.get();
  const std::string node_text =
      NodeText(identity, addresses, discovery == nullptr ? "" : discovery->place());
  if (!dry_run) return RunInEarshot(config, std::move(options), node_text);
  RETURN_IF_ERROR(CheckTelemetry(addresses));
  const bool serves = options.rank == 0 && !Launched();  // else a launcher has printed it
  ASSIGN_OR_RETURN(const std::string dashboard, serves ? DashboardText(config) : std::string());
  ASSIGN_OR_RETURN(std::unique_ptr<Experiment> experiment, BuildForNode(config, options.rank));
  std::cout << node_text << dashboard << "token: " << token.origin << "\n" << Opening(*experiment);
  if (options.rank != 0 || Launched()) return absl::OkStatus();  // a launcher sees to the directory
  return config.has_resume() ? CheckGoesOn(*experiment).status() : CheckRunDirectory(config);
}

}  // namespace

void AddNodeCommand(CommandLine& line) {
  Command command = line.AddCommand("node", "run one node of a cluster");
  command.SetFooter(kNodeExamples);
  DefineExperiment(
      command,
      FieldsInGroups({"Experiment", "Model and data", "Training", "Output", "Checkpoints",
                      "Measurement", "Faults", "Time-outs", "Cluster", "Hosts", "Security"}),
      RunNode);
}

}  // namespace grapevine
