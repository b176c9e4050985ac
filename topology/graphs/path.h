// path: a line of nodes, each talking to the one before and the one after.
//
// Thread-safety: immutable.
#ifndef GRAPEVINE_TOPOLOGY_GRAPHS_PATH_H_
#define GRAPEVINE_TOPOLOGY_GRAPHS_PATH_H_

#include "base/spec.h"
#include "topology/topology.h"

namespace grapevine {

// "path"; any n.
absl::StatusOr<std::shared_ptr<const Topology>> MakePath(const Spec& spec, Rank n, uint64_t seed);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_GRAPHS_PATH_H_
