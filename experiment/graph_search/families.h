// The usual graphs, and the hosts on which their nodes are best placed.
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

// Returns the graphs that registered topologies advise (topology/topology.h), that repeat
// themselves and that exist for n nodes; with Metropolis weights.
std::vector<std::shared_ptr<const Mixing>> Families(Rank n, uint64_t seed);

// Returns the rank at which each node of the graph is best. Starts from the graph's own order and
// from the one that has near nodes next to each other, and exchanges two nodes as long as that
// makes the estimate of a period shorter.
std::vector<Rank> BestPlaces(const Topology& topology, const Group& nearness,
                             const LinkLoads& loads);

// Returns the weights of `mixing` where node i of the graph is rank places[i]. The name tells of
// both the graph and the places.
std::shared_ptr<const Mixing> Placed(const Mixing& mixing, std::span<const Rank> places);

// Returns symmetric weights as edges.
std::vector<WeightedRound> WeightedRoundsOf(const Mixing& mixing);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_FAMILIES_H_
