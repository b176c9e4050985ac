// The identity of an experiment: what the nodes of one run must agree on, as texts that they
// compare when they join, and what a recording says of the experiment, from which it can be built
// again. Settings are compared as they are, files by their contents, since each machine may keep
// them where it likes.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_IDENTITY_H_
#define GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_IDENTITY_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
#include "run/recording/recording.pb.h"

namespace grapevine {

struct IdentityItem {
  std::string name;   // a setting, or something derived from several
  std::string value;  // printable
};

// Returns one item for each setting of run/config/config.proto's section EXPERIMENT, in its order,
// and one for the layout of the replica. Errors are those of reading --init-from.
absl::StatusOr<std::vector<IdentityItem>> IdentityOf(const Experiment& experiment);

// Returns the graph's canonical name, or a checksum of its contents if it is from a file.
std::string GraphIdentity(const Experiment& experiment);

// Returns the header of the recording of `rank`, made by this program on this machine.
RecordingHeader HeaderOf(const Experiment& experiment, Rank rank,
                         std::span<const IdentityItem> identity);

// Builds the experiment of a node's recording. The header may be hostile. `file` is the path of the
// recording. Errors are kInput or kUsage and name `file`. It is an error if data, a graph or
// weights have changed since the recording.
absl::StatusOr<std::unique_ptr<Experiment>> RecordedExperiment(const std::string& file,
                                                               const RecordingHeader& header);

// Returns how this program and machine differ from those that recorded, which may be why bits
// differ; empty if they do not.
std::string DifferentMachine(const RecordingHeader& header);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_IDENTITY_H_
