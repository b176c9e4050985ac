// random-matching: in every round another perfect matching, drawn uniformly.
//
// Every node finds its partner on its own, from (seed, round) and in constant
// time and memory however many nodes there are: the matching pairs neighbouring
// places of a pseudo-random permutation of the nodes.
//
// Thread-safety: immutable.
#ifndef GRAPEVINE_TOPOLOGY_GRAPHS_RANDOM_MATCHING_H_
#define GRAPEVINE_TOPOLOGY_GRAPHS_RANDOM_MATCHING_H_

#include "base/spec.h"
#include "topology/topology.h"

namespace grapevine {

// "random-matching"; any n. Where n is odd, one node a round stays alone. It
// never repeats, except where there is a single matching (n <= 2).
absl::StatusOr<std::shared_ptr<const Topology>> MakeRandomMatching(const Spec& spec, Rank n,
                                                                   uint64_t seed);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_GRAPHS_RANDOM_MATCHING_H_
