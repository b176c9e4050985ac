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

// Ranks with nothing between them, or parts that are each nearer to themselves than to the others.
struct Group {
  std::vector<Rank> members;  // ascending
  std::vector<Group> parts;   // none, or at least two, by their first members
};

// Ranks 0 to n - 1. Where the costs of messages differ by a factor (kApart) somewhere, the ranks
// that messages below it join are a part: at the largest such gaps, at most kLevels of them.
Group GroupByNearness(Rank n, const std::function<double(Rank, Rank)>& cost);

inline constexpr double kApart = 1.5;
inline constexpr int kLevels = 3;

// Without its parts, or without those of its parts.
Group Flat(const Group& group);
Group TopLevel(const Group& group);

// Its members, those of a part next to each other.
std::vector<Rank> MembersByPart(const Group& group);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_GROUPS_H_
