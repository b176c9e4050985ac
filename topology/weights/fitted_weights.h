// Symmetric weights on given edges that average as fast as they can, for a fixed graph or a
// schedule of graphs.
//
// For a fixed graph they tend, with the horizon, to the fastest mixing symmetric weights (Xiao and
// Boyd 2004, "Fast linear iterations for distributed averaging"; Boyd, Diaconis and Xiao 2004) with
// entries of at least 0. For a schedule, nothing as good is known in closed form.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_WEIGHTS_FITTED_WEIGHTS_H_
#define GRAPEVINE_TOPOLOGY_WEIGHTS_FITTED_WEIGHTS_H_

#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "topology/weights/mixing.h"

namespace grapevine {

// An edge whose ends give each other's replica this weight; a < b.
struct WeightedEdge {
  Rank a;
  Rank b;
  double weight;
};

// A round of symmetric weights. Each pair occurs once, no node's weights sum to more than 1, and
// what is left of 1 is the node's own weight.
using WeightedRound = std::vector<WeightedEdge>;

struct WeightFit {
  // The number of rounds, from round 0 on, after which |W ... W - 11'/n| is made small, in the
  // Frobenius norm.
  Round horizon = 1;
  // The most products that are looked at.
  int steps = 60;
};

// Returns better weights for the same edges, found by projected gradient descent from the given
// weights, which need not be feasible. The result is never worse than MakeFeasible of the given
// weights. Takes O(steps horizon n^3).
std::vector<WeightedRound> FitWeights(Rank n, std::vector<WeightedRound> rounds,
                                      const WeightFit& fit);

// Raises negative weights to 0, and scales down weights with which a node's would sum to more than
// 1.
void MakeFeasible(Rank n, WeightedRound* round);

// Returns the norm that FitWeights makes small.
double Disagreement(Rank n, const std::vector<WeightedRound>& rounds, Round horizon);

// Sets Metropolis-Hastings weights on the same edges (mixing.h).
void SetMetropolis(Rank n, WeightedRound* round);

// Makes mixing weights over the schedule of these rounds, which must be feasible. The schedule and
// the weights both have this name.
std::shared_ptr<const Mixing> MakeWeighted(const std::string& name, Rank n,
                                           const std::vector<WeightedRound>& rounds);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_WEIGHTS_FITTED_WEIGHTS_H_
