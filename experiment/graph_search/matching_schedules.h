// Schedules that use a graph's expensive edges less often than its cheap ones, in the manner of
// MATCHA (Wang et al. 2019, arXiv:1905.09435). MATCHA draws matchings of the graph at random, with
// frequencies; here they come in turn.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_MATCHING_SCHEDULES_H_
#define GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_MATCHING_SCHEDULES_H_

#include <functional>
#include <vector>

#include "base/ids.h"
#include "topology/weights/fitted_weights.h"

namespace grapevine {

using EdgeCost = std::function<double(const WeightedEdge&)>;

// Divides the graph's edges into sets without common nodes, as few as a greedy search finds. The
// edges of a set cost about the same.
std::vector<WeightedRound> Matchings(const WeightedRound& graph, const EdgeCost& cost);

// Returns a schedule for a graph in which some edges cost more than `cheap`: all edges in the first
// of `every` rounds, the cheap ones in the others.
std::vector<WeightedRound> DearEdgesSometimes(const WeightedRound& graph, const EdgeCost& cost,
                                              double cheap, int every);
// Returns a schedule for a graph in which some edges cost more than `cheap`: matchings of these
// edges in turn, and before each `rounds_between` rounds of the cheap edges.
std::vector<WeightedRound> DearMatchingsInTurn(const WeightedRound& graph, const EdgeCost& cost,
                                               double cheap, int rounds_between);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_MATCHING_SCHEDULES_H_
