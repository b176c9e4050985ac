#include <unistd.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/status.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/experiment_command.h"
#include "cli/commands/sweep_command.h"
#include "cli/flags/config_flags.h"
#include "cli/terminal/interruption.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/run_text.h"
#include "cli/terminal/status_line.h"
#include "cli/terminal/text_output.h"
#include "experiment/advice/advice.h"
#include "experiment/advice/advice_report.h"
#include "experiment/core/experiment.h"
#include "experiment/core/experiment_problem.h"
#include "experiment/core/phantom_settings.h"
#include "experiment/core/run_checkpoints.h"
#include "experiment/simulated/simulated_cluster.h"
#include "experiment/simulated/simulated_run.h"
#include "experiment/sweep/simulated_cells.h"
#include "experiment/sweep/sweep_run.h"
#include "run/config/config_field.h"
#include "run/config/config_resolve.h"
#include "run/config/resolved_config.h"
#include "run/records/run_directory.h"
#include "run/records/sweep_directory.h"
#include "system/usable_cores.h"

namespace grapevine {
namespace {

// Refuses settings that the advice is to choose.
absl::Status CheckNothingIsChosen(const ResolvedConfig& resolved) {
  for (const char* name : {"topology", "algorithm"}) {
    const Origin origin = resolved.OriginOf(name);
    if (origin.source == Source::kDefault) continue;
    return UsageError(absl::StrCat(origin.where,
                                   ": --advise compares them all; drop it, or "
                                   "drop --advise to simulate this one"));
  }
  return absl::OkStatus();
}

// Replaces the experiment by one without learning, of the same size and gradient time.
absl::Status MakePhantom(Config* config, AdviceBasis* basis) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Experiment> experiment, Experiment::Build(*config));
  basis->replica_bytes = 4.0 * static_cast<double>(experiment->layout().size);
  const bool learns = experiment->problem().learns();
  if (experiment->problem().data() != nullptr) basis->split = config->split();
  if (learns && !config->has_compute()) {
    ASSIGN_OR_RETURN(const std::chrono::nanoseconds time, MeasureGradient(*experiment));
    config->set_compute(FormatDuration(time));
    basis->compute_measured = true;
  }
  if (learns) ForgetLearning(experiment->layout().size, config);
  basis->compute = config->compute();
  return absl::OkStatus();
}

// Computes the advice. Unless `quiet`, says on standard error how far it has come, and for how long
// it may go on: longer where the winning side changes, which nobody knows before.
absl::StatusOr<ClusterAdvice> AdviseAloud(const Config& config, bool quiet,
                                          const std::atomic<bool>& interrupted) {
  AdviceRunOptions options{.threads = UsableCores(), .interrupted = &interrupted};
  if (quiet) return AdviseCluster(config, options);
  StatusLine line;
  const auto begin = std::chrono::steady_clock::now();
  options.on_progress = [&line, begin](const AdviceProgress& progress) {
    const double elapsed = Seconds(std::chrono::steady_clock::now() - begin);
    line.Say(progress.text, TimeLeft(elapsed, progress.timed, progress.left));
  };
  return AdviseCluster(config, options);
}

// `grapevine sim --advise`: prints the advice, as JSON if `json`, for the nodes, model and network
// of `resolved`. A model that learns counts by its size and, unless --compute is given, by the time
// that a gradient takes on this machine. With `dry_run`, only checks and prints the candidates.
absl::Status PrintAdvice(const ResolvedConfig& resolved, bool json, bool dry_run,
                         const std::atomic<bool>& interrupted) {
  RETURN_IF_ERROR(CheckNothingIsChosen(resolved));
  Config config = resolved.config;
  config.set_schedule("constant");  // any other schedule needs more rounds
  ASSIGN_OR_RETURN(const auto cluster, SimulatedCluster::Make(config));
  AdviceBasis basis{.nodes = config.nodes(),
                    .model = config.model(),
                    .network = cluster->network().description(),
                    .memory_bandwidth = config.memory_bandwidth(),
                    .straggler = config.straggler()};
  RETURN_IF_ERROR(MakePhantom(&config, &basis));
  if (dry_run) {
    for (const Candidate& candidate : AdviceCandidates(config.nodes())) {
      std::cout << "would try " << candidate.name() << "\n";
    }
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const ClusterAdvice advice, AdviseAloud(config, json, interrupted));
  std::cout << (json ? AdviceJson(advice, basis) : AdviceText(advice, basis)) << std::flush;
  return absl::OkStatus();
}

// Fills in the time of a gradient: for a model that learns, it is measured on this machine unless
// --compute is given, and the configuration records it. `folder` is that of a sweep; empty for a
// single run.
absl::Status FillCompute(const std::string& folder, DatasetCache* data,
                         const std::atomic<bool>& interrupted, std::vector<SweepCell>* cells) {
  const bool alone = cells->size() == 1;
  return MeasureGradients(
      folder, data, &interrupted,
      [alone](const SweepCell& cell, const std::string& time) {
        std::cout << "a gradient takes " << time << " here";
        if (alone) {
          std::cout << "; --compute=" << time << " repeats this run\n";
        } else {
          const Config& config = cell.resolved.config;
          std::cout << " (" << config.model() << ", batch " << config.batch() << ")\n";
        }
      },
      cells);
}

// Fills in the memory bandwidth: mixing takes the time that was measured together with --compute,
// unless --memory-bandwidth is given.
absl::Status FillMemoryBandwidth(bool quiet, std::vector<SweepCell>* cells) {
  std::set<std::string> told;
  for (SweepCell& cell : *cells) {
    ResolvedConfig& resolved = cell.resolved;
    if (resolved.OriginOf("memory_bandwidth").source != Source::kDefault) return absl::OkStatus();
    ASSIGN_OR_RETURN(const auto bandwidth, MeasuredMemoryBandwidth(resolved.config));
    if (!bandwidth) continue;
    const std::string compute = absl::StrCat("--compute=", resolved.config.compute());
    if (!quiet && told.insert(compute).second) {
      std::cout << "mixing is charged at " << *bandwidth << " of memory bandwidth, as measured; "
                << "--memory-bandwidth overrides that\n";
    }
    resolved.config.set_memory_bandwidth(*bandwidth);
    resolved.origins["memory_bandwidth"] = {Source::kFile, compute};
  }
  return absl::OkStatus();
}

std::string Header(const Experiment& experiment, const NetworkPlan& network) {
  const Config& config = experiment.config();
  const std::string size = HumanSize(4.0 * static_cast<double>(experiment.layout().size));
  return absl::StrFormat("%s\n%s: replicas of %s, %d rounds\nnetwork: %s\n",
                         CastText(experiment, "simulated nodes"), config.model(), size,
                         experiment.rounds(), network.description());
}

// The requests of signals to a simulation.
struct Wishes {
  std::atomic<bool> interrupted = false;
  std::atomic<bool> terminated = false;  // a run that keeps checkpoints is to end with one
  std::atomic<bool> saves = false;       // a run that keeps checkpoints goes on
  std::atomic<Failure> told = Failure::kNone;
};

absl::StatusOr<std::unique_ptr<Interruption>> WatchFor(Wishes& wishes) {
  const auto interrupt = [&wishes](const absl::Status& why) {
    wishes.told = FailureOf(why);
    wishes.interrupted = true;
  };
  const auto save = [&wishes, interrupt](const absl::Status& why) {
    if (!wishes.saves) return interrupt(why);
    wishes.terminated = true;
  };
  return Interruption::Watch(
      interrupt,
      Interruption::Saving{.begin = save, .patience = kSavingPatience, .echo = kTerminationEcho});
}

// Adds the signal to the status of an interrupted simulation, which does not know by which signal
// it was interrupted.
absl::Status AsTold(const Wishes& wishes, const absl::Status& status) {
  if (FailureOf(status) != Failure::kInterrupted || wishes.told == Failure::kNone) return status;
  return WithFailure(status, wishes.told);
}

absl::Status SimulateOne(const Experiment& experiment, Wishes& wishes) {
  ASSIGN_OR_RETURN(const LockedFolder locked, RunDirectoryFor(experiment.config(), absl::Now()));
  const std::string& run = locked.path;
  std::cout << "run directory: " << run << std::endl;
  RETURN_IF_ERROR(FlushStandardOutput());
  ProgressDisplay display(
      TerminalOptions({experiment.rounds(), experiment.plan().Epoch(experiment.rounds())},
                      /*json=*/false),
      [](std::string text) { std::cout << text << std::flush; },
      [](std::string text) { std::cerr << text << std::flush; });
  SimulatedRun simulation(
      &experiment,
      {.run_directory = run,
       .on_metrics = [&](const RunMetrics& metrics) { display.OnProgress(ToJsonLine(metrics)); },
       .interrupted = &wishes.interrupted,
       .terminated = &wishes.terminated});
  wishes.saves = experiment.config().has_checkpoint_every();
  const absl::StatusOr<Summary> summary = simulation.Run();
  if (!summary.ok()) return NamingWhatIsKept(run, experiment.rounds(), summary.status());
  std::cout << Conclusion(*summary) << "\n"
            << ToReadableText(simulation.statistics()) << std::flush;
  return absl::OkStatus();
}

absl::Status SimulateSweep(std::vector<SweepCell>& cells, DatasetCache* data,
                           const std::atomic<bool>& interrupted) {
  ASSIGN_OR_RETURN(const LockedFolder locked, CreateSweepDirectory(cells, absl::Now()));
  const std::string& folder = locked.path;
  RETURN_IF_ERROR(FillCompute(folder, data, interrupted, &cells));
  const int threads = UsableCores();
  std::cout << cells.size() << " cells on " << threads << " threads, in " << folder << std::endl;
  RETURN_IF_ERROR(FlushStandardOutput());
  return CarryOutCells(cells,
                       {.directory = folder,
                        .run = SimulatedCells(data, &interrupted),
                        .threads = threads,
                        .interrupted = &interrupted},
                       /*live=*/isatty(STDOUT_FILENO) != 0);
}

struct AdviceFlags {
  Flag advise;
  Flag json;
};

AdviceFlags DeclareAdvice(Command command) {
  const Flag advise = command.AddSwitch(
      {.names = "--advise",
       .help = "recommend a topology and an algorithm for these nodes, model and network, and say "
               "where the choice changes",
       .group = "Advice"});
  const Flag json =
      command
          .AddSwitch(
              {.names = "--json", .help = "print the advice as one JSON object", .group = "Advice"})
          .Needs(advise);
  return {advise, json};
}

absl::Status AdviseOn(const std::vector<SweepCell>& cells, bool json, bool dry_run,
                      const std::atomic<bool>& interrupted) {
  if (cells.size() == 1) {
    return PrintAdvice(cells.front().resolved, json, dry_run, interrupted);
  }
  return UsageError(
      "--advise is about one cluster, and compares topologies and algorithms "
      "by itself; give it no lists");
}

absl::Status SimulateUntilTold(std::vector<SweepCell>& cells, bool dry_run,
                               const AdviceFlags& advice, Wishes& wishes) {
  const std::atomic<bool>& interrupted = wishes.interrupted;
  RETURN_IF_ERROR(FillMemoryBandwidth(advice.json.given(), &cells));
  if (advice.advise.given()) {
    return AdviseOn(cells, advice.json.given(), dry_run, interrupted);
  }
  DatasetCache data;
  ASSIGN_OR_RETURN(std::unique_ptr<Experiment> first, BuildFirst(cells, &data));
  RETURN_IF_ERROR(first->config().has_resume() ? CheckRecordings(first->config())
                                               : CheckOutput(cells));
  ASSIGN_OR_RETURN(const auto cluster, SimulatedCluster::Make(first->config()));
  if (dry_run) {
    RETURN_IF_ERROR(CheckpointsOf(*first).status());
    RETURN_IF_ERROR(CheckGoesOn(*first).status());
    std::cout << Header(*first, cluster->network());
    if (cells.size() > 1) std::cout << "... and " << cells.size() - 1 << " more cells\n";
    return absl::OkStatus();
  }
  if (cells.size() > 1) return SimulateSweep(cells, &data, interrupted);
  RETURN_IF_ERROR(FillCompute(/*folder=*/"", &data, interrupted, &cells));
  // Built again, with the measured time.
  ASSIGN_OR_RETURN(first, Experiment::Build(cells.front().resolved.config, &data));
  RETURN_IF_ERROR(CheckpointsOf(*first).status());
  ASSIGN_OR_RETURN(const std::optional<Checkpoint> checkpoint, CheckGoesOn(*first));
  std::cout << Header(*first, cluster->network()) << GoesOnText(*first, checkpoint);
  return SimulateOne(*first, wishes);
}

absl::Status Simulate(std::vector<SweepCell>& cells, bool dry_run, const AdviceFlags& advice) {
  for (const SweepCell& cell : cells) {
    RETURN_IF_ERROR(ValidateForSimulation(cell.resolved));
  }
  RETURN_IF_ERROR(CheckCheckpoints(cells));
  RETURN_IF_ERROR(CheckSettingsMatter(cells));
  Wishes wishes;
  ASSIGN_OR_RETURN(const std::unique_ptr<Interruption> interruption, WatchFor(wishes));
  return AsTold(wishes, SimulateUntilTold(cells, dry_run, advice, wishes));
}

}  // namespace

void AddSimCommand(CommandLine& line) {
  Command command =
      line.AddCommand("sim", "run an experiment, or a sweep of them, on a simulated cluster");
  const AdviceFlags advice = DeclareAdvice(command);
  command.SetFooter(std::string(kListHelp) +
                    "Examples:\n"
                    "  grapevine sim -n 16 --model=phantom:1.08MB --compute=10ms --rounds=100 "
                    "--topology=ring,torus --bandwidth=100Mbit,1Gbit --latency=1ms,10ms\n"
                    "  grapevine sim -n 8 --topology=ring --model=lenet5 --bandwidth=100Mbit\n"
                    "  grapevine sim --advise -n 16 --model=phantom:1.08MB --compute=10ms "
                    "--network=cloud-region");
  DefineSweep(
      command,
      FieldsInGroups({"Experiment", "Model and data", "Training", "Simulated cluster", "Output",
                      "Checkpoints", "Faults"}),
      [advice](std::vector<SweepCell>& cells, bool dry_run) {
        return Simulate(cells, dry_run, advice);
      },
      // Advice needs no number of rounds.
      [advice]() -> std::optional<std::string> {
        if (advice.advise.given()) return "1";
        return std::nullopt;
      });
}

}  // namespace grapevine
