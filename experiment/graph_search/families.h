// The graphs that everybody takes, and on which hosts their nodes are best placed.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_FAMILIES_H_
#define GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_FAMILIES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "experiment/graph_search/groups.h"
#include "experiment/graph_search/link_loads.h"
#include "topology/weights/fitted_weights.h"
#include "topology/weights/mixing.h"

namespace grapevine {

// With Metropolis weights: those that registered topologies advise (topology/topology.h), repeat
// themselves and exist for n nodes.
std::vector<std::shared_ptr<const Mixing>> Families(Rank n, uint64_t seed);

// The rank at which each node of the graph is best, from its own and from that which has near nodes
// next to each other, by exchanging two as long as that makes the estimate of a period shorter.
std::vector<Rank> BestPlaces(const Topology& topology, const Group& nearness,
                             const LinkLoads& loads);

// The same weights where node i of the graph is rank places[i]. The name tells of both.
std::shared_ptr<const Mixing> Placed(const Mixing& mixing, std::span<const Rank> places);

// Symmetric weights as edges.
std::vector<WeightedRound> WeightedRoundsOf(const Mixing& mixing);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_FAMILIES_H_
