// Schedules after which all nodes have exactly the mean, for any n and any groups.
//
// Halving a group until single nodes are left, and averaging counterparts of the two halves, is the
// hypercube; it needs equal halves. Where parts differ in size, or only few messages shall pass
// between them, parts exchange just enough weight for their means to agree, and average within once
// more. Parts of p and q nodes in a group of n exchange pq/n in all. Between equal halves that is a
// quarter of a group's replicas, where the hypercube sends half of them. (The construction for any
// n follows Takezawa et al. 2023, "Beyond exponential graph", arXiv:2305.11420, which has other
// weights.)
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_EXACT_SCHEDULES_H_
#define GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_EXACT_SCHEDULES_H_

#include <vector>

#include "experiment/graph_search/groups.h"
#include "topology/weights/fitted_weights.h"

namespace grapevine {

struct ExactStyle {
  // The number of parts into which ranks are divided that have nothing between them. If it is at
  // least the number of ranks, they average all with all, in one round.
  int ways = 2;
  // Whether equal parts exchange all their replicas, counterpart with counterpart, rather than as
  // few as are enough.
  bool full = false;
  // Whether parts are taken by twos rather than all at once.
  bool pairwise = false;
};

// Returns the rounds of a period. After one period, or one and its first rounds again, all nodes
// have the mean. Empty for a single node.
std::vector<WeightedRound> ExactSchedule(const Group& group, const ExactStyle& style);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_EXACT_SCHEDULES_H_
