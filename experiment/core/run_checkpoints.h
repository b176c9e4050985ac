// The checkpoints of an experiment: when they are taken, what they say, with which experiment a run
// can go on from one, and what it has behind it then. The same for real and simulated nodes.
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

// From one checkpoint to the next: rounds or a time, one of them.
struct CheckpointInterval {
  std::optional<Round> rounds;
  std::optional<std::chrono::nanoseconds> time;  // from 1 ns on
};

// --checkpoint-every, if it is given. Errors are kUsage: neither rounds nor a time, or an
// experiment of which there are no checkpoints.
absl::StatusOr<std::optional<CheckpointInterval>> CheckpointsOf(const Experiment& experiment);

// Whether SIGTERM ends a run of real nodes with a checkpoint. Where the others go on without one
// that is told to end (--on-failure=shrink), they do.
bool SavesBeforeItEnds(const Config& config);

// How long a run that SIGTERM ends may take to save first, and its processes to end then: together
// less than the 30 s after which Slurm and cloud providers kill.
inline constexpr std::chrono::seconds kSavingPatience{20};
inline constexpr std::chrono::seconds kEndAfterSaving{5};
// A second SIGTERM that comes sooner is the first one's echo; later, it ends the run at once.
inline constexpr std::chrono::seconds kTerminationEcho{2};

// Whether that is after so many rounds on every node, without anybody's call; null if it never is.
std::function<bool(Round)> SavedRounds(const std::optional<CheckpointInterval>& every);

// What the manifests of all checkpoints of an experiment say.
absl::StatusOr<CheckpointManifest> ManifestOf(const Experiment& experiment);

// That of --resume, if it is given, and of this experiment: the last one of a run, and if it was
// killed before it had results, the last to go on from. Errors are kUsage or kInput.
absl::StatusOr<std::optional<Checkpoint>> CheckpointToResume(const Experiment& experiment);

// The same at a node of a run that need not see it: only if it had other nodes (BeginsAtMean); the
// settings are rank 0's matter.
std::optional<Checkpoint> CheckpointOfOthers(const Experiment& experiment);

// The directory in which the run goes on by --resume, which is given. kUsage if --out is another.
absl::StatusOr<std::string> ResumedRun(const Config& config);

// That one, locked, or a new one.
absl::StatusOr<RunReservation> ReserveRun(const Config& config, absl::Time now);
// The same, begun.
absl::StatusOr<LockedFolder> RunDirectoryFor(const Config& config, absl::Time now);

// After which round a run of so many rounds that has ended like this can go on; none if it cannot,
// or would end in the same way.
std::optional<Round> RoundToGoOnAfter(const std::string& run, Round rounds,
                                      const absl::Status& why);

// Whether a run ended because somebody told it to.
bool IsInterruption(const absl::Status& why);

// The error with which a run of so many rounds has ended, and what is left of it: how it can go on,
// if it has a checkpoint; else, if somebody has interrupted it, its metrics.
absl::Status NamingWhatIsKept(const std::string& run, Round rounds, absl::Status why);

// What a run that goes on has behind it: its measurements, and what its evaluations have decided.
struct RunSoFar {
  // The lines of metrics.jsonl until the checkpoint's round.
  std::vector<RunMetrics> measured;
  // Where the batch grows at plateaus: what was settled, by ascending limits; else empty.
  struct Settled {
    Round limit;
    int64_t growth;
  };
  std::vector<Settled> settled;
};

// Reads the metrics in `run`, and brings `horizon`, of this course, to where it was at the
// checkpoint. kInput if an evaluation is missing, kUsage if nothing is left to do.
absl::StatusOr<RunSoFar> ReadRunSoFar(const Experiment& experiment, const std::string& run,
                                      const Checkpoint& checkpoint, const RunCourse& course,
                                      RunHorizon* horizon);

// The checkpoint of --resume, if it is given and the run can go on from it: before anything is
// changed. Errors as ReadRunSoFar's and CheckpointToResume's; kOutput while another process writes
// the run.
absl::StatusOr<std::optional<Checkpoint>> CheckGoesOn(const Experiment& experiment);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_RUN_CHECKPOINTS_H_
