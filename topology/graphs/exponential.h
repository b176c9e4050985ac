// Exponential graphs: node i sends to i + 1, i + 2, i + 4, ... (mod n), to all
// of them in every round or to one after the other (arXiv:2110.13363).
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_GRAPHS_EXPONENTIAL_H_
#define GRAPEVINE_TOPOLOGY_GRAPHS_EXPONENTIAL_H_

#include "base/spec.h"
#include "topology/topology.h"

namespace grapevine {

// "exponential"; any n. Degree ceil(log2 n), directed from n = 4 on.
absl::StatusOr<std::shared_ptr<const Topology>> MakeExponential(const Spec& spec, Rank n,
                                                                uint64_t seed);

// "one-peer-exponential"; any n. Degree 1, period ceil(log2 n), directed from
// n = 3 on. Averages exactly after a period where n is a power of two.
absl::StatusOr<std::shared_ptr<const Topology>> MakeOnePeerExponential(const Spec& spec, Rank n,
                                                                       uint64_t seed);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_GRAPHS_EXPONENTIAL_H_
