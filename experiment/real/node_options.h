// What a node takes from its settings before it is one: its credentials, the run's token, how it
// finds rank 0 and where that one's role is kept.
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

// `token` may be empty (NodeToken). `role_folder`: where all nodes are of one machine, the folder
// in which rank 0's role is kept unless --coordinator names a place; none: there alone. Reads
// certificates and begins to look for rank 0; what is unsafe is logged. Errors are kUsage or
// kInput.
//
// Called by a process's first thread before it has others, for those that start here take no
// signals.
absl::StatusOr<NodeRunOptions> NodeOptionsOf(const Config& config, const NodeIdentity& identity,
                                             const NodeAddresses& addresses,
                                             const CoordinatorPlace& place, std::string token,
                                             const std::optional<std::string>& role_folder);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_OPTIONS_H_
