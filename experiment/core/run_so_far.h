// What a run that goes on has behind it: its measurements, and what its evaluations have decided.
#ifndef GRAPEVINE_EXPERIMENT_CORE_RUN_SO_FAR_H_
#define GRAPEVINE_EXPERIMENT_CORE_RUN_SO_FAR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "experiment/core/experiment.h"
#include "experiment/core/run_course.h"
#include "experiment/core/run_horizon.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/records/metrics.h"

namespace grapevine {

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

#endif  // GRAPEVINE_EXPERIMENT_CORE_RUN_SO_FAR_H_
