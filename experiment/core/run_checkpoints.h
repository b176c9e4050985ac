// The checkpoints of an experiment: when they are taken, what they say, which experiment can go on
// from a checkpoint, and what its run has behind it then. Real and simulated nodes have the same
// checkpoints.
//
// Thread-safety: the functions have no state; those that read files name them in their errors.
#ifndef GRAPEVINE_EXPERIMENT_CORE_RUN_CHECKPOINTS_H_
#define GRAPEVINE_EXPERIMENT_CORE_RUN_CHECKPOINTS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "experiment/core/experiment.h"
#include "experiment/core/run_course.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/checkpoint/checkpoint_files.h"
#include "run/config/config.pb.h"
#include "run/records/metrics.h"
#include "run/records/run_directory.h"

namespace grapevine {

// The interval from one checkpoint to the next: either rounds or a time.
struct CheckpointInterval {
  std::optional<Round> rounds;
  std::optional<std::chrono::nanoseconds> time;  // at least 1 ns
};

// Returns the interval of --checkpoint-every, if the flag is given. Errors are kUsage: the value is
// neither rounds nor a time, or the experiment has no checkpoints.
absl::StatusOr<std::optional<CheckpointInterval>> CheckpointsOf(const Experiment& experiment);

// Whether SIGTERM ends a run of real nodes with a checkpoint. It does not if nodes go on without
// lost ones (--on-failure=shrink): they also go on without a node that is told to end.
bool SavesBeforeItEnds(const Config& config);

// The time that a run may take to save when SIGTERM ends it, and the time that its processes may
// then take to end: together less than the 30 s after which Slurm and cloud providers kill.
inline constexpr std::chrono::seconds kSavingPatience{20};
inline constexpr std::chrono::seconds kEndAfterSaving{5};
// A second SIGTERM within this time is an echo of the first one; a later one ends the run at once.
inline constexpr std::chrono::seconds kTerminationEcho{2};

// Returns a function that says after which rounds every node saves without being asked to; null if
// after none.
std::function<bool(Round)> SavedRounds(const std::optional<CheckpointInterval>& every);

// Returns what the manifests of all checkpoints of an experiment have in common.
absl::StatusOr<CheckpointManifest> ManifestOf(const Experiment& experiment);

// Returns the checkpoint of --resume, which must be of this experiment; absent without the flag. If
// the flag names a run, the checkpoint is the last one, or, if the run was killed before it had
// results, the last one to go on from. Errors are kUsage or kInput.
absl::StatusOr<std::optional<Checkpoint>> CheckpointToResume(const Experiment& experiment);

// Returns the checkpoint of --resume at a node that need not see the run, if it had other nodes
// (BeginsAtMean); otherwise absent. Checking the settings is rank 0's matter.
std::optional<Checkpoint> CheckpointOfOthers(const Experiment& experiment);

// Returns the directory in which a run goes on by --resume, which must be given. kUsage if --out is
// another directory.
absl::StatusOr<std::string> ResumedRun(const Config& config);

// Reserves the directory of a run that goes on, or of a new run, and locks it.
absl::StatusOr<RunReservation> ReserveRun(const Config& config, absl::Time now);
// Reserves the directory of a run (ReserveRun), and begins the run in it.
absl::StatusOr<LockedFolder> RunDirectoryFor(const Config& config, absl::Time now);

// Returns the round after which a run of `rounds` rounds that ended with the error `why` can go on;
// absent if it cannot go on, or would end in the same way.
std::optional<Round> RoundToGoOnAfter(const std::string& run, Round rounds,
                                      const absl::Status& why);

// Whether a run ended because somebody told it to.
bool IsInterruption(const absl::Status& why);

// Returns `why`, the error with which a run of `rounds` rounds has ended, extended by what is left
// of the run: how it can go on, if it has a checkpoint, or else its metrics, if somebody has
// interrupted it.
absl::Status NamingWhatIsKept(const std::string& run, Round rounds, absl::Status why);

// What a run that goes on has behind it: its measurements, and what its evaluations have decided.
struct RunSoFar {
  // The lines of metrics.jsonl until the checkpoint's round.
  std::vector<RunMetrics> measured;
  // What was settled where the batch grows at plateaus, by ascending limits; otherwise empty.
  struct Settled {
    Round limit;
    int64_t growth;
  };
  std::vector<Settled> settled;
};

// Reads the metrics in `run`, and brings `horizon`, which must be of this course, to where it was
// at the checkpoint. kInput if an evaluation is missing, kUsage if nothing is left to do.
absl::StatusOr<RunSoFar> ReadRunSoFar(const Experiment& experiment, const std::string& run,
                                      const Checkpoint& checkpoint, const RunCourse& course,
                                      RunHorizon* horizon);

// Returns the checkpoint of --resume, if the flag is given, and checks that the run can go on from
// it, before anything is changed. Errors are those of ReadRunSoFar and CheckpointToResume, and
// kOutput while another process writes the run.
absl::StatusOr<std::optional<Checkpoint>> CheckGoesOn(const Experiment& experiment);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_RUN_CHECKPOINTS_H_
