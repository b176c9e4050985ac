// The graph and the weights among the nodes that are left when others are lost.
//
// A graph with a formula (a ring, a torus, a schedule) is made anew over the living nodes. A graph
// that was drawn or read from a file keeps the edges between living nodes, with their weights. A
// node keeps what it gave to a lost one, W'_jj = W_jj + sum over the lost d of W_dj. Columns still
// sum to 1, and W' is symmetric where W was: the mean of the living nodes is kept (the repair of
// docs/topologies.md). Where neither gives weights that the algorithm can use and that lead from
// every node to every other node, the living nodes form a ring.
// Thread-safety: a pure function; the result is immutable.
#ifndef GRAPEVINE_TOPOLOGY_WEIGHTS_LIVING_MIXING_H_
#define GRAPEVINE_TOPOLOGY_WEIGHTS_LIVING_MIXING_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "topology/weights/mixing.h"

namespace grapevine {

struct LivingMixingRequest {
  std::shared_ptr<const Mixing> whole;  // over all nodes
  std::string topology;                 // `topology` and `mixing` are the specs of `whole`
  std::string mixing;
  uint64_t seed = 1;
  // The kinds of weights that the algorithm averages right with (algorithm/algorithm_kind.h).
  std::vector<Stochastic> usable = {Stochastic::kDoubly};
};

enum class LivingGraph {
  kWhole,   // no node is lost
  kRemade,  // the same kind of graph, over fewer nodes
  kKept,    // the edges between living nodes
  kRing,    // the last resort
};

struct LivingMixing {
  std::shared_ptr<const Mixing> mixing;  // its rank i is the node living[i]
  LivingGraph graph = LivingGraph::kWhole;
};

// Returns the weights among the living nodes. `living` lists ranks of `whole`, ascending, at least
// one.
absl::StatusOr<LivingMixing> MixingOfLiving(const LivingMixingRequest& request,
                                            std::span<const Rank> living);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_WEIGHTS_LIVING_MIXING_H_
