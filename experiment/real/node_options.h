// Determines what a node takes from its settings before it starts: its credentials, the run's
// token, how it finds rank 0, and where rank 0's role is kept.
#ifndef GRAPEVINE_EXPERIMENT_REAL_NODE_OPTIONS_H_
#define GRAPEVINE_EXPERIMENT_REAL_NODE_OPTIONS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "experiment/real/node_addresses.h"
#include "experiment/real/node_run.h"
#include "node/discovery/discovery.h"
#include "node/identity/identity.h"
#include "run/config/config.pb.h"

namespace grapevine {

// Returns the options of a node. `token` may be empty (NodeToken). `role_folder` is, if all nodes
// are on one machine, the folder in which rank 0's role is kept unless --coordinator names a place;
// if it is absent, the role is kept in that place alone. Reads certificates, begins to look for
// rank 0, and logs what is unsafe. Errors are kUsage or kInput.
//
// Must be called by a process's first thread before it has others, so that threads that start here
// take no signals.
absl::StatusOr<NodeRunOptions> NodeOptionsOf(const Config& config, const NodeIdentity& identity,
                                             const NodeAddresses& addresses,
                                             const CoordinatorPlace& place, std::string token,
                                             const std::optional<std::string>& role_folder);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_OPTIONS_H_
