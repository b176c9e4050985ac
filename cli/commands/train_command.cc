#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status.h"
#include "cli/commands/commands.h"
#include "cli/commands/experiment_command.h"
#include "cli/commands/sweep_command.h"
#include "cli/commands/train_hosts.h"
#include "cli/flags/config_flags.h"
#include "cli/terminal/interruption.h"
#include "cli/terminal/logging.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/run_text.h"
#include "cli/terminal/text_output.h"
#include "experiment/core/experiment.h"
#include "experiment/core/experiment_problem.h"
#include "experiment/core/failure_policy.h"
#include "experiment/core/other_nodes.h"
#include "experiment/core/run_checkpoints.h"
#include "experiment/core/run_plan.h"
#include "experiment/core/setting_checks.h"
#include "experiment/real/dashboard.h"
#include "experiment/real/descriptor_needs.h"
#include "experiment/real/node_addresses.h"
#include "experiment/real/node_device.h"
#include "experiment/sweep/sweep_run.h"
#include "node/launch/launch_variables.h"
#include "node/launch/launcher.h"
#include "node/launch/remote_hosts.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/config/config_field.h"
#include "run/config/config_file.h"
#include "run/config/config_resolve.h"
#include "run/config/token_source.h"
#include "run/records/output_file.h"
#include "run/records/run_directory.h"
#include "run/records/sweep_directory.h"
#include "system/background.h"
#include "system/file_descriptor.h"
#include "system/usable_cores.h"

namespace grapevine {
namespace {

// What the header and the display need to know about an experiment. The experiment itself, data and
// all, is not kept while the nodes run.
struct Plan {
  std::string header;
  Round rounds;
  ProgressGoal goal;
  bool role_moves;  // rank 0's role moves to another node if it is lost
};

absl::StatusOr<Plan> MakePlan(const Config& config) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Experiment> experiment, Experiment::Build(config));
  if (!HasHosts(config)) RETURN_IF_ERROR(ProvideDescriptorsOfLauncher(*experiment));
  RETURN_IF_ERROR(CheckpointsOf(*experiment).status());
  ASSIGN_OR_RETURN(const std::optional<Checkpoint> checkpoint, CheckGoesOn(*experiment));
  const RunPlan plan = checkpoint ? PlanFrom(*checkpoint, *experiment) : experiment->plan();
  return Plan{Opening(*experiment) + GoesOnText(*experiment, checkpoint),
              plan.rounds,
              {plan.rounds, plan.Epoch(plan.rounds)},
              experiment->role_moves()};
}

// Returns the arguments of a node, with what config.textproto leaves out because it is about this
// process.
std::vector<std::string> NodeArguments(const Config& config, const std::string& run) {
  // An agent replaces {config} by the place where it has put the file.
  const std::string file = HasHosts(config) ? "{config}" : ConfigPath(run);
  std::vector<std::string> arguments = {"grapevine",
                                        "node",
                                        absl::StrCat("--config=", file),
                                        absl::StrCat("--out=", run),
                                        absl::StrCat("--log-level=", config.log_level()),
                                        absl::StrCat("--log-format=", config.log_format())};
  if (config.has_trace()) arguments.push_back(absl::StrCat("--trace=", config.trace()));
  if (config.has_record()) arguments.push_back(absl::StrCat("--record=", config.record()));
  if (config.has_resume()) arguments.push_back(absl::StrCat("--resume=", config.resume()));
  if (config.has_profile()) arguments.push_back(absl::StrCat("--profile=", config.profile()));
  if (config.has_metrics_port()) {
    arguments.push_back(absl::StrCat("--metrics-port=", config.metrics_port()));
  }
  if (config.has_dashboard()) {
    arguments.push_back(absl::StrCat("--dashboard=", config.dashboard()));
  }
  if (!HasHosts(config)) return arguments;
  if (config.has_tls_ca()) arguments.push_back(absl::StrCat("--tls-ca=", config.tls_ca()));
  if (config.has_tls_cert()) arguments.push_back(absl::StrCat("--tls-cert=", config.tls_cert()));
  if (config.has_tls_key()) arguments.push_back(absl::StrCat("--tls-key=", config.tls_key()));
  if (config.has_tls_identity()) {
    arguments.push_back(absl::StrCat("--tls-identity=", config.tls_identity()));
  }
  if (config.insecure()) arguments.push_back("--insecure");
  if (config.overwrite()) arguments.push_back("--overwrite");
  return arguments;
}

// The folder in which the nodes of a run keep rank 0's role, while the run lasts.
class RoleFolder {
 public:
  RoleFolder(const std::string& run, bool wanted) : path_(wanted ? run + "/.role" : "") {
    Remove();
  }
  ~RoleFolder() { Remove(); }
  const std::string& path() const { return path_; }

 private:
  void Remove() const {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  const std::string path_;
};

absl::Status LaunchNodes(const Config& config, bool role_moves, const LockedFolder& folder,
                         ProgressDisplay& display) {
  const std::string& run = folder.path;
  ASSIGN_OR_RETURN(const std::string token, TokenForNodes(config));
  std::map<std::string, std::string> environment = {{kTokenVariable, token}};
  const std::vector<std::string> arguments = NodeArguments(config, run);
  std::unique_ptr<RemoteHosts> hosts;
  std::vector<std::string> names;
  if (HasHosts(config)) {
    ASSIGN_OR_RETURN(hosts, ConnectHosts(config, run, folder.lock->text(), arguments, environment));
    role_moves = role_moves && hosts->share_run();
    names = hosts->names();
  }
  const RoleFolder role(run, role_moves);
  if (role_moves) environment[kRoleVariable] = role.path();
  bool interrupted = false;
  std::optional<std::chrono::milliseconds> saving;
  if (SavesBeforeItEnds(config)) saving = kSavingPatience + kEndAfterSaving;
  return Launch({.plan = {.nodes = config.nodes(),
                          .hosts = std::move(names),
                          .rendezvous_timeout = ResolvedTimeout(config.rendezvous_timeout()),
                          .finish_timeout = ResolvedTimeout(config.step_timeout()),
                          .saving_grace = saving,
                          .echo = kTerminationEcho,
                          .peer_timeout = ResolvedTimeout(config.peer_timeout()),
                          .survives = GoesOnWithoutTheLost(config),
                          .role_moves = role_moves,
                          .max_restarts = BeginsAgain(config) ? 0 : config.max_restarts()},
                 .arguments = arguments,
                 .join_arguments = {"--join"},
                 .environment = environment,
                 .hears_nodes = config.chaos_size() > 0 || GoesOnWithoutTheLost(config),
                 .hosts = hosts.get()},
                {.on_line =
                     [&](Rank rank, bool errors, std::string_view line) {
                       // The launcher says this once, instead of every node.
                       if (!interrupted || !TellsOfInterruption(MessageOf(line)))
                         display.OnLine(rank, errors, line);
                     },
                 .on_progress = [&](std::string_view line) { display.OnProgress(line); },
                 .on_interrupt = [&] { interrupted = true; },
                 .on_notice =
                     [&](std::string_view notice) {
                       display.OnNotice(absl::StrCat("grapevine train: ", std::string(notice)));
                     }});
}

// Runs the nodes. A reader that stalls, or disappears, holds up neither the nodes nor the launcher.
absl::Status RunNodes(const Config& config, const Plan& plan, const LockedFolder& folder) {
  const bool json = config.log_format() == "json";
  const auto note = [json](int64_t dropped) { return DroppedLines(dropped, json); };
  BackgroundWriter out(STDOUT_FILENO, "the standard output", note);
  BackgroundWriter errors(STDERR_FILENO, "the standard error", note);
  absl::Status status;
  {
    ProgressDisplay display(
        TerminalOptions(plan.goal, json), [&](std::string text) { out.Write(std::move(text)); },
        [&](std::string text) { errors.Write(std::move(text)); });
    status = LaunchNodes(config, plan.role_moves, folder, display);
  }
  const absl::Status written = AsOutputStatus(out.Drain());
  return status.ok() ? written : status;
}

// Runs the nodes until the run is over, or has begun again as often as it may.
absl::Status RunToTheEnd(Config config, const Plan& plan, const LockedFolder& folder) {
  const std::string& run = folder.path;
  for (int restart = 1;; ++restart) {
    const absl::Status status = RunNodes(config, plan, folder);
    const std::optional<Round> round = RoundToGoOnAfter(run, plan.rounds, status);
    const bool again = BeginsAgain(config) && FailureOf(status) == Failure::kPeerLost &&
                       restart <= config.max_restarts();
    if (!again || !round) return NamingWhatIsKept(run, plan.rounds, status);
    std::cout << "grapevine train: " << status.message() << "; all begin again after round "
              << *round << " (" << restart << " of --max-restarts=" << config.max_restarts() << ")"
              << std::endl;
    config.set_resume(run);
    config.set_out(run);
    config.clear_overwrite();
  }
}

// Checks, for a dry run, whether nodes could begin on the hosts.
absl::Status TryHosts(const Config& config) {
  if (!HasHosts(config)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string token, TokenForNodes(config));
  const std::string run = config.has_out() ? config.out() : DefaultRunPath(config, absl::Now());
  ASSIGN_OR_RETURN(
      const std::unique_ptr<RemoteHosts> hosts,
      ConnectHosts(config, "", "", NodeArguments(config, run), {{kTokenVariable, token}}));
  std::cout << hosts->count() << (hosts->count() == 1 ? " host is" : " hosts are")
            << " ready; rank 0 runs on " << hosts->first_name() << "\n";
  return absl::OkStatus();
}

// Returns a line if more than two nodes share each core of this machine, and so wait for their
// turns; else nothing.
std::string SharedCores(const Config& config) {
  const int cores = UsableCores();
  if (HasHosts(config) || config.nodes() <= 2 * cores) return "";
  return absl::StrCat(config.nodes(), " nodes take turns on ", cores,
                      cores == 1 ? " core" : " cores",
                      ": times and waits will be this machine's, not those of ", config.nodes(),
                      " hosts, which `grapevine sim` has\n");
}

absl::Status TrainOne(const Config& config, bool dry_run) {
  RETURN_IF_ERROR(CheckOnRealNodes(config));
  RETURN_IF_ERROR(CheckDevice(config));
  ASSIGN_OR_RETURN(Plan plan, MakePlan(config));
  ASSIGN_OR_RETURN(const std::string telemetry, TelemetryText(config, config.nodes()));
  plan.header += telemetry;
  ASSIGN_OR_RETURN(const std::string dashboard, DashboardText(config));
  plan.header += dashboard;
  plan.header += SharedCores(config);
  RETURN_IF_ERROR(CheckRecordings(config));
  if (dry_run) {
    std::cout << plan.header;
    RETURN_IF_ERROR(TryHosts(config));
    return config.has_resume() ? absl::OkStatus() : CheckRunDirectory(config);
  }
  ASSIGN_OR_RETURN(const LockedFolder locked, RunDirectoryFor(config, absl::Now()));
  const std::string& run = locked.path;
  // The nodes read this file, also in a run that goes on: time-outs and the like may have changed.
  RETURN_IF_ERROR(WriteOutputFile(ConfigPath(run), ConfigFileText(config)));
  std::cout << plan.header << "run directory: " << run << std::endl;
  RETURN_IF_ERROR(FlushStandardOutput());
  RETURN_IF_ERROR(RunToTheEnd(config, plan, locked));
  ASSIGN_OR_RETURN(const std::string closing, ClosingText(config, run));
  std::cout << closing << std::flush;
  return absl::OkStatus();
}

// Trains the cells, one run after another.
absl::Status TrainCells(const std::vector<SweepCell>& cells) {
  ASSIGN_OR_RETURN(const LockedFolder locked, CreateSweepDirectory(cells, absl::Now()));
  const std::string& folder = locked.path;
  // A launcher takes the signals that come while its nodes run; all others wait for the next cell,
  // which may not get as far as a launcher.
  ASSIGN_OR_RETURN(const std::unique_ptr<SignalDescriptor> signals,
                   SignalDescriptor::Open({SIGINT, SIGTERM, SIGHUP}));
  std::cout << cells.size() << " cells, one after the other, in " << folder << std::endl;
  std::atomic<bool> interrupted = false;
  const auto train = [&signals](const Config& config) -> absl::Status {
    if (const std::optional<int> signal = signals->Read()) return InterruptionStatus(*signal);
    std::cout << "\n";
    return TrainOne(config, /*dry_run=*/false);
  };
  const auto run = [&](const Config& config) -> absl::StatusOr<Summary> {
    if (absl::Status status = train(config); !status.ok()) {
      interrupted = IsInterruption(status);
      return status;
    }
    return ReadSummary(config.out());
  };
  return CarryOutCells(cells, {.directory = folder, .run = run, .interrupted = &interrupted},
                       /*live=*/false);
}

// Returns the opening of the first cell that can be built; its data are not kept.
absl::StatusOr<std::string> FirstOpening(const std::vector<SweepCell>& cells) {
  DatasetCache data;
  ASSIGN_OR_RETURN(const std::unique_ptr<Experiment> first, BuildFirst(cells, &data));
  return Opening(*first);
}

absl::Status TrainSweep(const std::vector<SweepCell>& cells, bool dry_run) {
  ASSIGN_OR_RETURN(const std::string opening, FirstOpening(cells));
  RETURN_IF_ERROR(CheckOutput(cells));
  if (!dry_run) return TrainCells(cells);
  std::cout << opening << "... and " << cells.size() - 1 << " more cells\n";
  return absl::OkStatus();
}

absl::Status Train(std::vector<SweepCell>& cells, bool dry_run) {
  for (SweepCell& cell : cells) {
    RETURN_IF_ERROR(SettleHosts(&cell.resolved));
    RETURN_IF_ERROR(ValidateForRealNodes(cell.resolved));
  }
  RETURN_IF_ERROR(CheckCheckpoints(cells));
  RETURN_IF_ERROR(CheckSettingsMatter(cells));
  const Config& first = cells.front().resolved.config;
  if (first.log_format() == "json") UseJsonLines(std::cout, "info");
  return cells.size() == 1 ? TrainOne(first, dry_run) : TrainSweep(cells, dry_run);
}

}  // namespace

void AddTrainCommand(CommandLine& line) {
  Command command = line.AddCommand(
      "train", "train with all nodes as processes, of this machine or of several hosts");
  command.SetFooter(
      std::string(kListHelp) +
      "Examples:\n"
      "  grapevine train -n 8 --topology=ring --data=mnist:DIR --epochs=3\n"
      "  grapevine train -n 4 --model=phantom:100MB --compute=50ms --rounds=20 --slow=2:3\n"
      "  grapevine train -H node1:4,node2:4 --insecure --topology=torus --data=mnist:DIR\n"
      "  grapevine train -n 4 --data=mnist:DIR --batch=16,64 --lr=0.05,0.2 --out=runs/batches");
  DefineSweep(command,
              FieldsInGroups({"Experiment", "Model and data", "Training", "Output", "Checkpoints",
                              "Measurement", "Faults", "Time-outs", "Hosts", "Launch", "Security"}),
              Train);
}

}  // namespace grapevine
