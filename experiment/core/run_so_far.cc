#include "experiment/core/run_so_far.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "experiment/core/run_checkpoints.h"
#include "run/records/continued_lines.h"
#include "run/records/run_directory.h"
#include "run/records/run_lock.h"

namespace grapevine {
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
      "; to do its last rounds again, --resume an earlier one of ", run, "/checkpoints"));
}

std::string TargetMet(const Experiment& experiment, Round round) {
  return absl::StrCat("it met --target-accuracy=", experiment.config().target_accuracy(),
                      " by round ", round);
}

// Such a run has its last checkpoint before it met its target. Who names one means to do the rest
// again.
absl::Status CheckNotOverSince(const Experiment& experiment, const std::string& run,
                               const RunHorizon& horizon) {
  const std::string& resumed = experiment.config().resume();
  std::error_code error;
  if (RunOf(resumed) != resumed || !std::filesystem::exists(SummaryPath(run), error)) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::vector<RunMetrics> measured,
                   MeasuredUntil(run, std::numeric_limits<Round>::max()));
  for (const RunMetrics& metrics : measured) {
    if (!horizon.Met(metrics.test_accuracy)) continue;
    return Over(resumed, run, TargetMet(experiment, metrics.round));
  }
  return absl::OkStatus();
}

absl::Status CheckNotOver(const Experiment& experiment, const std::string& run,
                          const Checkpoint& checkpoint, const RunCourse& course,
                          const RunHorizon& horizon) {
  const Round round = checkpoint.manifest.round();
  if (horizon.reached()) return Over(checkpoint.path, run, TargetMet(experiment, round));
  if (round < course.plan().rounds) return CheckNotOverSince(experiment, run, horizon);
  return Over(checkpoint.path, run, absl::StrCat("all its ", round, " rounds are done"));
}

}  // namespace

absl::StatusOr<RunSoFar> ReadRunSoFar(const Experiment& experiment, const std::string& run,
                                      const Checkpoint& checkpoint, const RunCourse& course,
                                      RunHorizon* horizon) {
  const Round begin = checkpoint.manifest.round();
  RunSoFar so_far;
  ASSIGN_OR_RETURN(so_far.measured, MeasuredUntil(run, begin));
  // What the rest of the run does is a function of its evaluations. Each says when the next is.
  NoteSettled(*horizon, &so_far.settled);
  auto line = so_far.measured.begin();
  for (Round round = 1; round <= begin && !horizon->reached(); ++round) {
    if (!course.Evaluated(round)) continue;
    line = std::find_if(line, so_far.measured.end(),
                        [round](const RunMetrics& metrics) { return metrics.round == round; });
    if (line == so_far.measured.end()) {
      return InputError(MetricsPath(run),
                        absl::StrCat("lacks the evaluation of round ", round,
                                     ", on which the rest of the run depends; restore the line, or "
                                     "begin the run anew without --resume"));
    }
    // A loss that was no number is not in the line; it counts as it did.
    horizon->OnEvaluation(
        {.round = round, .test_loss = line->test_loss, .test_accuracy = line->test_accuracy});
    NoteSettled(*horizon, &so_far.settled);
  }
  RETURN_IF_ERROR(CheckNotOver(experiment, run, checkpoint, course, *horizon));
  return so_far;
}

absl::StatusOr<std::optional<Checkpoint>> CheckGoesOn(const Experiment& experiment) {
  const Config& config = experiment.config();
  // Checkpoints come and go while it is written.
  if (config.has_resume()) RETURN_IF_ERROR(CheckNobodyWrites(RunOf(config.resume())));
  ASSIGN_OR_RETURN(std::optional<Checkpoint> checkpoint, CheckpointToResume(experiment));
  if (!checkpoint) return checkpoint;
  const std::unique_ptr<RunCourse> course = experiment.NewCourse();
  RunHorizon horizon = experiment.HorizonOf(course.get());
  RETURN_IF_ERROR(
      ReadRunSoFar(experiment, RunOf(checkpoint->path), *checkpoint, *course, &horizon).status());
  return checkpoint;
}

}  // namespace grapevine
