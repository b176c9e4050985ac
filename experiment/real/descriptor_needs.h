// How many descriptors (files, connections) the processes of a run may have open, and whether the
// system grants as many: with too few, nodes turn each other away, and a run stands or crawls.
//
// Thread-safe.
#ifndef GRAPEVINE_EXPERIMENT_REAL_DESCRIPTOR_NEEDS_H_
#define GRAPEVINE_EXPERIMENT_REAL_DESCRIPTOR_NEEDS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "experiment/core/experiment.h"
#include "topology/topology.h"

namespace grapevine {

// The limit with which the node that opens most has enough, where nodes talk along this graph.
int64_t DescriptorsNeeded(const Topology& topology);

// Raises this process's soft limit, which the processes that it starts inherit, to the hard one.
// An error with both numbers where that is too low for a node.
absl::Status ProvideDescriptors(const Experiment& experiment);
// The same for the launcher of all nodes on this machine, too.
absl::Status ProvideDescriptorsOfLauncher(const Experiment& experiment);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_DESCRIPTOR_NEEDS_H_
