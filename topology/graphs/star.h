// star: rank 0 in the middle, every other node talks to it alone.
//
// Thread-safety: immutable.
#ifndef GRAPEVINE_TOPOLOGY_GRAPHS_STAR_H_
#define GRAPEVINE_TOPOLOGY_GRAPHS_STAR_H_

#include "base/spec.h"
#include "topology/topology.h"

namespace grapevine {

// "star"; any n.
absl::StatusOr<std::shared_ptr<const Topology>> MakeStar(const Spec& spec, Rank n, uint64_t seed);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_GRAPHS_STAR_H_
