// Determines how many descriptors (files, connections) the processes of a run may have open, and
// whether the system grants as many: with too few, nodes turn each other away, and a run stands or
// crawls.
//
// Thread-safe.
#ifndef GRAPEVINE_EXPERIMENT_REAL_DESCRIPTOR_NEEDS_H_
#define GRAPEVINE_EXPERIMENT_REAL_DESCRIPTOR_NEEDS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "experiment/core/experiment.h"
#include "topology/topology.h"

namespace grapevine {

// Returns the limit that is enough for the node with most descriptors, if nodes exchange messages
// along this graph.
int64_t DescriptorsNeeded(const Topology& topology);

// Raises this process's soft limit, which the processes that it starts inherit, to the hard limit.
// Returns an error with the needed and the granted number if that is too low for a node.
absl::Status ProvideDescriptors(const Experiment& experiment);
// Raises the limit and checks it for the launcher of all nodes on this machine, too; see
// ProvideDescriptors.
absl::Status ProvideDescriptorsOfLauncher(const Experiment& experiment);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_DESCRIPTOR_NEEDS_H_
