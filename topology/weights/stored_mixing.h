// Mixing weights given row by row, round by round.
//
// Thread-safety: a pure function; the weights are immutable.
#ifndef GRAPEVINE_TOPOLOGY_WEIGHTS_STORED_MIXING_H_
#define GRAPEVINE_TOPOLOGY_WEIGHTS_STORED_MIXING_H_

#include <memory>
#include <string>
#include <vector>

#include "topology/weights/mixing.h"

namespace grapevine {

// The rows of one round, by rank. Each row must have exactly the in-neighbours of the topology in
// that round, and the sums that `stochastic` says. On an undirected graph, a doubly stochastic
// matrix must be symmetric.
using MixingRows = std::vector<MixingRow>;

// Makes weights from the rows of each round of the topology's period.
std::shared_ptr<const Mixing> MakeStoredMixing(std::string name,
                                               std::shared_ptr<const Topology> topology,
                                               std::vector<MixingRows> rounds,
                                               Stochastic stochastic = Stochastic::kDoubly);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_WEIGHTS_STORED_MIXING_H_
