// Decides which nodes go if living nodes have lost each other: the way between the two is cut, and
// it is unknown at which end. One of each such pair goes, and in all as few as possible (a minimum
// vertex cover of the pairs): a host with a bad network has lost several nodes, each of which has
// lost only that host.
//
// Pure functions.
#ifndef GRAPEVINE_NODE_CONTROL_DISPUTES_H_
#define GRAPEVINE_NODE_CONTROL_DISPUTES_H_

#include <compare>
#include <set>
#include <vector>

#include "base/ids.h"

namespace grapevine {

// The loss of one node, according to another.
struct Loss {
  Rank reporter;
  Rank lost;
  auto operator<=>(const Loss&) const = default;
};

using Dispute = std::set<Loss>;

// Separates losses into disputes that share no node, in ascending order. The nodes of `kept` stay,
// and connect no disputes: two nodes that have lost the same kept node, or were lost by it, are not
// for that reason in one dispute.
std::vector<Dispute> SeparateDisputes(const Dispute& losses, const std::set<Rank>& kept);

// Returns the nodes that go, so that of no two remaining nodes one has lost the other; those come
// first that most others have lost. A node that has lost a node of `kept`, or was lost by one,
// goes; of a loss between two kept nodes, the reporter goes. Of the others, the fewest go: among
// equally many, those that most others have lost, then lost nodes rather than reporters, then
// higher ranks. The result is exact for up to kMostForExact nodes. If there are more, nodes are
// chosen one by one, by the number of nodes with which each is at odds.
std::vector<Rank> FewestToGo(const Dispute& dispute, const std::set<Rank>& kept);

inline constexpr int kMostForExact = 20;

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_DISPUTES_H_
