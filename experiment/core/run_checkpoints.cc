#include "experiment/core/run_checkpoints.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"
#include "base/units.h"
#include "experiment/core/experiment_identity.h"
#include "experiment/core/other_nodes.h"
#include "experiment/core/run_plan.h"
#include "run/config/config_field.h"
#include "run/records/output_file.h"
#include "run/records/revision.h"
#include "run/records/run_directory.h"

namespace grapevine {
namespace {

// Checks that an experiment has checkpoints. `flag` is the setting that asks for them.
absl::Status CheckHasState(const Experiment& experiment, const std::string& flag) {
  if (!experiment.has_rounds() && !IsResilient(experiment.config().algorithm())) {
    return UsageError(absl::StrCat(
        flag, ": the nodes of --algorithm=", experiment.algorithm_name(),
        " go through no rounds together, and cannot give up what is under way; drop it"));
  }
  if (!experiment.problem().learns()) {
    return UsageError(absl::StrCat(flag, ": --model=", experiment.config().model(),
                                   " has no weights to save; drop it, or take another --model"));
  }
  return absl::OkStatus();
}

std::optional<CheckpointInterval> IntervalIn(const std::string& text) {
  if (Round rounds = 0; absl::SimpleAtoi(text, &rounds)) {
    if (rounds < 1) return std::nullopt;
    return CheckpointInterval{.rounds = rounds, .time = std::nullopt};
  }
  const absl::StatusOr<std::chrono::nanoseconds> time = ParseDuration(text);
  if (!time.ok() || time->count() < 1) return std::nullopt;
  return CheckpointInterval{.rounds = std::nullopt, .time = *time};
}

// Whether a setting may differ when a run goes on with another number of nodes, because it is about
// these nodes. The planned numbers of nodes are compared as numbers (ChangesOfPlan).
bool IsOfNodes(const std::string& setting) {
  static const auto* const names = new std::set<std::string>{
      "nodes", "planned_nodes", "topology", "mixing", "slow", "straggler", "min_nodes"};
  return names->contains(setting);
}

std::string SettingName(const std::string& name) {
  const ConfigField* const field = Config::descriptor()->FindFieldByName(name);
  return field == nullptr ? name : FlagName(*field);
}

std::string ShownValue(const std::string& value) { return value.empty() ? "not given" : value; }

using SettingTexts = std::map<std::string, std::string>;

SettingTexts SettingsOf(const CheckpointManifest& manifest) {
  SettingTexts settings;
  for (const CheckpointSetting& setting : manifest.settings()) {
    settings[setting.name()] = setting.value();
  }
  return settings;
}

// Returns how a run that goes on with other nodes has lost its plan; empty if it has kept it.
std::vector<std::string> ChangesOfPlan(SettingTexts then, const Config& config) {
  const std::string planned = then[then["planned_nodes"].empty() ? "nodes" : "planned_nodes"];
  if (planned == absl::StrCat(PlannedNodes(config))) return {};
  return {absl::StrCat("the run was planned for ", planned, " nodes, and is for ",
                       PlannedNodes(config), " (add --planned-nodes=", planned, " to go on with ",
                       config.nodes(), ")")};
}

// Returns what has changed: "--lr was 0.1 and is 0.2".
std::vector<std::string> Changes(SettingTexts then, const Config& config,
                                 const std::vector<IdentityItem>& identity) {
  const bool others = then["nodes"] != absl::StrCat(config.nodes());
  std::vector<std::string> changes;
  if (others) changes = ChangesOfPlan(then, config);
  const auto compare = [&changes, others](const std::string& name, const std::string& before,
                                          const std::string& now) {
    if (before == now || (others && IsOfNodes(name))) return;
    changes.push_back(
        absl::StrCat(SettingName(name), " was ", ShownValue(before), " and is ", ShownValue(now)));
  };
  for (const IdentityItem& item : identity) {
    const auto found = then.extract(item.name);
    compare(item.name, found.empty() ? "" : found.mapped(), item.value);
  }
  for (const auto& [name, value] : then) compare(name, value, "");
  return changes;
}

absl::Status CheckSameExperiment(const CheckpointManifest& manifest, const Experiment& experiment) {
  ASSIGN_OR_RETURN(const std::vector<IdentityItem> identity, IdentityOf(experiment));
  const std::vector<std::string> changes =
      Changes(SettingsOf(manifest), experiment.config(), identity);
  if (changes.empty()) return absl::OkStatus();
  return UsageError(absl::StrCat(
      "--resume=", experiment.config().resume(), ": a run goes on with its own settings and data: ",
      absl::StrJoin(changes, ", "), "; drop or restore what has changed, or begin another run"));
}

// Finds the checkpoint to go on from. Missing results are made by doing the last rounds again.
absl::StatusOr<Checkpoint> FindToGoOn(const std::string& path, Round rounds) {
  return HasResults(RunOf(path)) ? FindCheckpoint(path) : FindCheckpoint(path, /*before=*/rounds);
}

}  // namespace

absl::StatusOr<std::optional<CheckpointInterval>> CheckpointsOf(const Experiment& experiment) {
  const std::string& text = experiment.config().checkpoint_every();
  if (text.empty()) return std::nullopt;
  const std::string flag = absl::StrCat("--checkpoint-every=", text);
  const std::optional<CheckpointInterval> every = IntervalIn(text);
  if (!every) {
    return UsageError(absl::StrCat(
        flag, ": must be a number of rounds from 1 on, or a time, such as 30s, 10min or 1h"));
  }
  RETURN_IF_ERROR(CheckHasState(experiment, flag));
  return every;
}

bool SavesBeforeItEnds(const Config& config) {
  return config.has_checkpoint_every() && !GoesOnWithoutTheLost(config);
}

std::function<bool(Round)> SavedRounds(const std::optional<CheckpointInterval>& every) {
  if (!every || !every->rounds) return nullptr;
  return [rounds = *every->rounds](Round completed) { return completed % rounds == 0; };
}

absl::StatusOr<CheckpointManifest> ManifestOf(const Experiment& experiment) {
  ASSIGN_OR_RETURN(const std::vector<IdentityItem> identity, IdentityOf(experiment));
  CheckpointManifest manifest;
  manifest.set_version(kManifestVersion);
  manifest.set_program(absl::StrCat("grapevine ", Version(), " (", Revision(), ")"));
  for (const IdentityItem& item : identity) {
    CheckpointSetting& setting = *manifest.add_settings();
    setting.set_name(item.name);
    setting.set_value(item.value);
  }
  return manifest;
}

absl::StatusOr<std::optional<Checkpoint>> CheckpointToResume(const Experiment& experiment) {
  const Config& config = experiment.config();
  if (!config.has_resume()) return std::nullopt;
  RETURN_IF_ERROR(CheckHasState(experiment, absl::StrCat("--resume=", config.resume())));
  ASSIGN_OR_RETURN(Checkpoint checkpoint, FindToGoOn(config.resume(), experiment.rounds()));
  RETURN_IF_ERROR(CheckSameExperiment(checkpoint.manifest, experiment));
  return checkpoint;
}

std::optional<Checkpoint> CheckpointOfOthers(const Experiment& experiment) {
  absl::StatusOr<Checkpoint> found = FindToGoOn(experiment.config().resume(), experiment.rounds());
  if (!found.ok() || !BeginsAtMean(*found, experiment)) return std::nullopt;
  return *std::move(found);
}

absl::StatusOr<std::string> ResumedRun(const Config& config) {
  std::string run = RunOf(config.resume());
  std::error_code error;
  if (config.has_out() && !std::filesystem::equivalent(config.out(), run, error)) {
    return UsageError(absl::StrCat("--out=", config.out(), ": a run goes on in its own directory, ",
                                   run, "; drop --out"));
  }
  if (!config.overwrite()) return run;
  return UsageError("--overwrite: a run goes on in its own directory (--resume); drop --overwrite");
}

absl::StatusOr<RunReservation> ReserveRun(const Config& config, absl::Time now) {
  if (!config.has_resume()) return RunReservation::Make(config, now);
  ASSIGN_OR_RETURN(std::string run, ResumedRun(config));
  ASSIGN_OR_RETURN(LockedFolder folder, LockFolder(std::move(run), now));
  return RunReservation(std::move(folder));
}

absl::StatusOr<LockedFolder> RunDirectoryFor(const Config& config, absl::Time now) {
  ASSIGN_OR_RETURN(RunReservation run, ReserveRun(config, now));
  RETURN_IF_ERROR(run.Begin());
  return std::move(run).Release();
}

std::optional<Round> RoundToGoOnAfter(const std::string& run, Round rounds,
                                      const absl::Status& why) {
  const Failure failure = FailureOf(why);
  // A run that goes on would end with these errors again.
  constexpr std::array kLasting = {Failure::kUsage, Failure::kInput, Failure::kDiverged};
  if (why.ok() || std::ranges::find(kLasting, failure) != kLasting.end()) return std::nullopt;
  if (HasResults(run)) return std::nullopt;
  const absl::StatusOr<Checkpoint> last = FindToGoOn(run, rounds);
  if (!last.ok() || last->manifest.round() >= rounds) return std::nullopt;
  return last->manifest.round();
}

bool IsInterruption(const absl::Status& why) {
  const Failure failure = FailureOf(why);
  return failure == Failure::kInterrupted || failure == Failure::kTerminated;
}

absl::Status NamingWhatIsKept(const std::string& run, Round rounds, absl::Status why) {
  std::string kept;
  std::error_code none;
  if (const std::optional<Round> round = RoundToGoOnAfter(run, rounds, why)) {
    kept = absl::StrCat("; --resume=", run, " goes on after round ", *round);
  } else if (IsInterruption(why) && std::filesystem::file_size(MetricsPath(run), none) > 0 &&
             !none) {
    kept = absl::StrCat("; ", run, " has its metrics up to here");
  } else {
    return why;
  }
  return WithFailure(absl::Status(why.code(), absl::StrCat(std::string(why.message()), kept)),
                     FailureOf(why));
}

namespace {

absl::StatusOr<std::vector<RunMetrics>> MeasuredUntil(const std::string& run, Round round) {
  ASSIGN_OR_RETURN(const std::vector<std::string> lines, ReadLinesUntil(MetricsPath(run), round));
  std::vector<RunMetrics> measured;
  for (const std::string& line : lines) {
    ASSIGN_OR_RETURN(measured.emplace_back(), RunMetricsFromJson(line));
  }
  return measured;
}

void NoteSettled(const RunHorizon& horizon, std::vector<RunSoFar::Settled>* settled) {
  if (horizon.growth() == 0) return;
  if (settled->empty() || settled->back().growth != horizon.growth()) settled->emplace_back();
  settled->back() = {horizon.limit(), horizon.growth()};
}

absl::Status Over(const std::string& resumed, const std::string& run, const std::string& why) {
  return UsageError(absl::StrCat(
      "--resume=", resumed, ": the run is over: ", why, "; its results are in ", run,
      "; to do its last rounds again, --resume an earlier one of ", run,
      "/checkpoints; to train on, begin another run with --init-from=", ModelPath(run)));
}

std::string TargetMet(const Experiment& experiment, Round round) {
  return absl::StrCat("it met --target-accuracy=", experiment.config().target_accuracy(),
                      " by round ", round);
}

std::string AllDone(Round rounds) { return absl::StrCat("all its ", rounds, " rounds are done"); }

// Checks that the run has not ended since the checkpoint. A run that has results is over, wherever
// its last checkpoint is. But if --resume names a checkpoint, the user means to do the rest again,
// and if programs say when the run ends, other programs may take it further.
absl::Status CheckNotOverSince(const Experiment& experiment, const std::string& run,
                               const RunHorizon& horizon) {
  const std::string& resumed = experiment.config().resume();
  if (RunOf(resumed) != resumed || !HasResults(run)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<RunMetrics> measured,
                   MeasuredUntil(run, std::numeric_limits<Round>::max()));
  for (const RunMetrics& metrics : measured) {
    if (!horizon.Met(metrics.test_accuracy)) continue;
    return Over(resumed, run, TargetMet(experiment, metrics.round));
  }
  if (experiment.plan().open_ended) return absl::OkStatus();
  return Over(resumed, run, AllDone(measured.empty() ? 0 : measured.back().round));
}

absl::Status CheckNotOver(const Experiment& experiment, const std::string& run,
                          const Checkpoint& checkpoint, const RunCourse& course,
                          const RunHorizon& horizon) {
  const Round round = checkpoint.manifest.round();
  if (horizon.reached()) return Over(checkpoint.path, run, TargetMet(experiment, round));
  if (round < course.plan().rounds) return CheckNotOverSince(experiment, run, horizon);
  return Over(checkpoint.path, run, AllDone(round));
}

}  // namespace

absl::StatusOr<RunSoFar> ReadRunSoFar(const Experiment& experiment, const std::string& run,
                                      const Checkpoint& checkpoint, const RunCourse& course,
                                      RunHorizon* horizon) {
  const Round begin = checkpoint.manifest.round();
  RunSoFar so_far;
  ASSIGN_OR_RETURN(so_far.measured, MeasuredUntil(run, begin));
  // The rest of the run is a function of its evaluations. Each of them says when the next one is.
  NoteSettled(*horizon, &so_far.settled);
  auto line = so_far.measured.begin();
  for (Round round = 1; round <= begin && !horizon->reached(); ++round) {
    if (!course.Evaluated(round)) continue;
    line = std::find_if(line, so_far.measured.end(),
                        [round](const RunMetrics& metrics) { return metrics.round == round; });
    if (line == so_far.measured.end() && experiment.shrinks()) {
      // A node was lost during this evaluation, and nothing depended on the result.
      line = so_far.measured.begin();
      continue;
    }
    if (line == so_far.measured.end()) {
      return InputError(MetricsPath(run),
                        absl::StrCat("lacks the evaluation of round ", round,
                                     ", on which the rest of the run depends; restore the line, or "
                                     "begin the run anew without --resume"));
    }
    // A loss that was not a number is absent from the line; it counts here as it did in the run.
    horizon->OnEvaluation(
        {.round = round, .test_loss = line->test_loss, .test_accuracy = line->test_accuracy});
    NoteSettled(*horizon, &so_far.settled);
  }
  RETURN_IF_ERROR(CheckNotOver(experiment, run, checkpoint, course, *horizon));
  return so_far;
}

absl::StatusOr<std::optional<Checkpoint>> CheckGoesOn(const Experiment& experiment) {
  const Config& config = experiment.config();
  // Checkpoints come and go while a run is written.
  if (config.has_resume()) RETURN_IF_ERROR(CheckNobodyWrites(RunOf(config.resume())));
  ASSIGN_OR_RETURN(std::optional<Checkpoint> checkpoint, CheckpointToResume(experiment));
  if (!checkpoint) return checkpoint;
  if (BeginsAtMean(*checkpoint, experiment)) {
    RETURN_IF_ERROR(MeanOf(*checkpoint, experiment).status());
  }
  const std::unique_ptr<RunCourse> course = experiment.NewCourse();
  RunHorizon horizon = experiment.HorizonOf(course.get());
  RETURN_IF_ERROR(
      ReadRunSoFar(experiment, RunOf(checkpoint->path), *checkpoint, *course, &horizon).status());
  return checkpoint;
}

}  // namespace grapevine
