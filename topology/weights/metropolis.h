// metropolis and uniform: W_ij = 1/(1 + max(d_i, d_j)) (Metropolis-Hastings;
// Xiao, Boyd and Kim 2007), which is 1/(d + 1) where the degrees are equal.
//
// Thread-safety: immutable.
#ifndef GRAPEVINE_TOPOLOGY_WEIGHTS_METROPOLIS_H_
#define GRAPEVINE_TOPOLOGY_WEIGHTS_METROPOLIS_H_

#include "topology/weights/mixing.h"

namespace grapevine {

std::shared_ptr<const Mixing> MakeMetropolis(std::shared_ptr<const Topology> topology);

// The same weights under the name "uniform"; refuses a graph in which two
// neighbours differ in degree.
absl::StatusOr<std::shared_ptr<const Mixing>> MakeUniform(std::shared_ptr<const Topology> topology);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_WEIGHTS_METROPOLIS_H_
