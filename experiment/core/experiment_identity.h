// Which experiment it is: what the nodes of one run must agree on, as texts that they compare when
// they join, and what a recording says of it, from which it can be built again. Settings are
// compared as they are, files by their contents, since each machine may keep them where it likes.
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

// One item for each setting of run/config/config.proto's section EXPERIMENT, in its order, and
// the layout of the replica. Errors are those of reading --init-from.
absl::StatusOr<std::vector<IdentityItem>> IdentityOf(const Experiment& experiment);

// The graph's canonical name, or its contents if it is from a file.
std::string GraphIdentity(const Experiment& experiment);

// What a recording says of the experiment: for that of `rank` by this program on this machine.
RecordingHeader HeaderOf(const Experiment& experiment, Rank rank,
                         std::span<const IdentityItem> identity);

// The experiment of a node's recording, which may be hostile. `file` is where the recording is.
// Errors are kInput or kUsage and name it; also where data, a graph or weights have changed since.
absl::StatusOr<std::unique_ptr<Experiment>> RecordedExperiment(const std::string& file,
                                                               const RecordingHeader& header);

// How this program and machine differ from those that recorded: "", or what may be why bits do.
std::string DifferentMachine(const RecordingHeader& header);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_IDENTITY_H_
