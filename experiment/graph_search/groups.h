// Which ranks are near each other: sites, racks in sites, hosts in racks, from what messages
// between them cost.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_GROUPS_H_
#define GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_GROUPS_H_

#include <functional>
#include <vector>

#include "base/ids.h"

namespace grapevine {

// A group of ranks with nothing between them, or of parts that are each nearer to themselves than
// to the others.
struct Group {
  std::vector<Rank> members;  // ascending
  std::vector<Group> parts;   // none, or at least two, in the order of their first members
};

// Groups ranks 0 to n - 1. Where the costs of messages, in ascending order, rise by more than a
// factor (kApart), the ranks joined by messages below that gap form a part. Only the largest gaps
// count, at most kLevels of them.
Group GroupByNearness(Rank n, const std::function<double(Rank, Rank)>& cost);

inline constexpr double kApart = 1.5;
inline constexpr int kLevels = 3;

// Return the group without its parts, and the group whose parts have no parts of their own.
Group Flat(const Group& group);
Group TopLevel(const Group& group);

// Returns the members of a group, those of a part next to each other.
std::vector<Rank> MembersByPart(const Group& group);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_GROUPS_H_
