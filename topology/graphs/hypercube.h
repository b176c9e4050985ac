// hypercube: ranks whose binary digits differ in one place are neighbours.
//
// Thread-safety: pure function.
#ifndef GRAPEVINE_TOPOLOGY_GRAPHS_HYPERCUBE_H_
#define GRAPEVINE_TOPOLOGY_GRAPHS_HYPERCUBE_H_

#include "base/spec.h"
#include "topology/topology.h"

namespace grapevine {

// "hypercube"; n a power of two.
absl::StatusOr<std::shared_ptr<const Topology>> MakeHypercube(const Spec& spec, Rank n,
                                                              uint64_t seed);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_GRAPHS_HYPERCUBE_H_
