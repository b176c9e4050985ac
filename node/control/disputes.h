// Who is to go where living nodes have lost each other: the way between the two is cut, and nobody
// knows at which end. Of each such pair one goes, and in all as few as can be (a minimum vertex
// cover of the pairs): one host whose network is bad has lost several, each of which has lost it
// alone.
//
// Pure functions.
#ifndef GRAPEVINE_NODE_CONTROL_DISPUTES_H_
#define GRAPEVINE_NODE_CONTROL_DISPUTES_H_

#include <compare>
#include <set>
#include <vector>

#include "base/ids.h"

namespace grapevine {

// That one has lost another, by its own account.
struct Loss {
  Rank reporter;
  Rank lost;
  auto operator<=>(const Loss&) const = default;
};

using Dispute = std::set<Loss>;

// Those that share nobody, in ascending order. `kept` are to stay: two of whom each has lost one of
// them, or was lost by it, have for that nothing to do with each other.
std::vector<Dispute> SeparateDisputes(const Dispute& losses, const std::set<Rank>& kept);

// Who goes, so that no two are left of whom one has lost the other; first those that most have
// lost. Whoever has to do with one of `kept` goes for it; of two of them, who says so. Of the
// others the fewest: among as few, those whom most others have lost, then who was lost rather than
// who says so, then the higher ranks. Exactly for up to kMostForExact, more are judged one by one,
// by how many each is at odds with.
std::vector<Rank> FewestToGo(const Dispute& dispute, const std::set<Rank>& kept);

inline constexpr int kMostForExact = 20;

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_DISPUTES_H_
