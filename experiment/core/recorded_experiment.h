// What a recording says of the experiment that was recorded, and the experiment again.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_EXPERIMENT_CORE_RECORDED_EXPERIMENT_H_
#define GRAPEVINE_EXPERIMENT_CORE_RECORDED_EXPERIMENT_H_

#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
#include "experiment/core/experiment_identity.h"
#include "run/recording/recording.pb.h"

namespace grapevine {

// For the recording of `rank` by this program on this machine.
RecordingHeader HeaderOf(const Experiment& experiment, Rank rank,
                         std::span<const IdentityItem> identity);

// The experiment of a node's recording, which may be hostile. `file` is where the recording is.
// Errors are kInput or kUsage and name it; also where data, a graph or weights have changed since.
absl::StatusOr<std::unique_ptr<Experiment>> RecordedExperiment(const std::string& file,
                                                               const RecordingHeader& header);

// How this program and machine differ from those that recorded: "", or what may be why bits do.
std::string DifferentMachine(const RecordingHeader& header);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_RECORDED_EXPERIMENT_H_
