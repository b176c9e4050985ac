// Symmetric weights on given edges that average as fast as they can, for a fixed graph or a
// schedule of graphs.
//
// Of a fixed graph they tend, with the horizon, to the fastest mixing symmetric weights (Xiao and
// Boyd 2004, "Fast linear iterations for distributed averaging"; Boyd, Diaconis and Xiao 2004) with
// entries of at least 0. Of a schedule nothing as good is known in closed form.
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

// Both ends give each other's replica this weight; a < b.
struct WeightedEdge {
  Rank a;
  Rank b;
  double weight;
};

// A round of symmetric weights: each pair once, no node's weights sum to more than 1, and what is
// left of 1 is the node's own.
using WeightedRound = std::vector<WeightedEdge>;

struct WeightFit {
  // The rounds, from round 0 on, after which |W ... W - 11'/n| is made small, in Frobenius' norm.
  Round horizon = 1;
  // At most so many products are looked at.
  int steps = 60;
};

// Better weights for the same edges, by projected gradient descent from those given, which need not
// be feasible: never worse than what makes them so. O(steps horizon n^3).
std::vector<WeightedRound> FitWeights(Rank n, std::vector<WeightedRound> rounds,
                                      const WeightFit& fit);

// Raises weights to 0 at least, and scales those down with which a node's would sum to more than 1.
void MakeFeasible(Rank n, WeightedRound* round);

// The norm that FitWeights makes small.
double Disagreement(Rank n, const std::vector<WeightedRound>& rounds, Round horizon);

// Metropolis-Hastings weights on the same edges (mixing.h).
void SetMetropolis(Rank n, WeightedRound* round);

// As mixing weights over a schedule of so many rounds, which are feasible, both under this name.
std::shared_ptr<const Mixing> MakeWeighted(const std::string& name, Rank n,
                                           const std::vector<WeightedRound>& rounds);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_WEIGHTS_FITTED_WEIGHTS_H_
