// ring and torus: a grid of any dimension whose sides close into circles.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_GRAPHS_TORUS_H_
#define GRAPEVINE_TOPOLOGY_GRAPHS_TORUS_H_

#include "base/spec.h"
#include "topology/topology.h"

namespace grapevine {

// "ring"; any n.
absl::StatusOr<std::shared_ptr<const Topology>> MakeRing(const Spec& spec, Rank n, uint64_t seed);

// "torus" (two sides as near to each other as n allows: 1 x n for a prime) or
// "torus:4x8", "torus:4x4x2", in row-major order. A side of 2 gives one
// neighbour and a side of 1 none.
absl::StatusOr<std::shared_ptr<const Topology>> MakeTorus(const Spec& spec, Rank n, uint64_t seed);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_GRAPHS_TORUS_H_
