// Fixed graphs drawn at random from (seed, spec, n): the same on every node.
//
// Each is connected: a draw that is not is thrown away and drawn again, and a
// spec whose draws keep falling apart is refused.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_GRAPHS_RANDOM_GRAPH_H_
#define GRAPEVINE_TOPOLOGY_GRAPHS_RANDOM_GRAPH_H_

#include "base/spec.h"
#include "topology/topology.h"

namespace grapevine {

// "random:d=3": every node has d neighbours. d < n, n * d even, and d >= 2
// from three nodes on.
absl::StatusOr<std::shared_ptr<const Topology>> MakeRandomRegular(const Spec& spec, Rank n,
                                                                  uint64_t seed);

// "erdos-renyi:p=0.2": every pair is joined with probability p (by default
// 2 ceil(log2 n) / n, which is nearly always connected).
absl::StatusOr<std::shared_ptr<const Topology>> MakeErdosRenyi(const Spec& spec, Rank n,
                                                               uint64_t seed);

// "small-world:k=4:p=0.1": a ring in which everyone has k neighbours, k even
// and below n; then one end of each edge moves to a random node with
// probability p (Watts and Strogatz 1998).
absl::StatusOr<std::shared_ptr<const Topology>> MakeSmallWorld(const Spec& spec, Rank n,
                                                               uint64_t seed);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_GRAPHS_RANDOM_GRAPH_H_
