// complete: everyone talks to everyone. Nothing is stored.
//
// Thread-safety: immutable.
#ifndef GRAPEVINE_TOPOLOGY_GRAPHS_COMPLETE_H_
#define GRAPEVINE_TOPOLOGY_GRAPHS_COMPLETE_H_

#include "base/spec.h"
#include "topology/topology.h"

namespace grapevine {

// "complete"; any n.
absl::StatusOr<std::shared_ptr<const Topology>> MakeComplete(const Spec& spec, Rank n,
                                                             uint64_t seed);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_GRAPHS_COMPLETE_H_
