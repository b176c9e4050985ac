// The checkpoints of an experiment: when they are taken, what they say, and with which experiment a
// run can go on from one. The same for real and simulated nodes.
//
// Thread-safety: pure functions; those that read files name them in their errors.
#ifndef GRAPEVINE_EXPERIMENT_CORE_RUN_CHECKPOINTS_H_
#define GRAPEVINE_EXPERIMENT_CORE_RUN_CHECKPOINTS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "experiment/core/experiment.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/checkpoint/manifest.h"
#include "run/config/config.pb.h"
#include "run/records/run_lock.h"

namespace grapevine {

// --checkpoint-every, if it is given. Errors are kUsage: no number of rounds, or an experiment of
// which there are no checkpoints.
absl::StatusOr<std::optional<Round>> CheckpointInterval(const Experiment& experiment);

// What the manifests of all checkpoints of an experiment say.
absl::StatusOr<CheckpointManifest> ManifestOf(const Experiment& experiment);

// That of --resume, if it is given, and of this experiment. Errors are kUsage or kInput.
absl::StatusOr<std::optional<Checkpoint>> CheckpointToResume(const Experiment& experiment);

// The directory in which the run goes on by --resume, which is given. kUsage if --out is another.
absl::StatusOr<std::string> ResumedRun(const Config& config);

// That one, locked, or a new one (CreateRunDirectory).
absl::StatusOr<LockedFolder> RunDirectoryFor(const Config& config, absl::Time now);

// The error with which a run has ended, and how it can go on if it has a checkpoint.
absl::Status NamingCheckpoint(const std::string& run, absl::Status why);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_RUN_CHECKPOINTS_H_
