// What the nodes of one run must agree on, as texts that they compare when they join: settings as
// they are, files by their contents, since each machine may keep them where it likes.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_IDENTITY_H_
#define GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_IDENTITY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"

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

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_IDENTITY_H_
