// An undirected graph given by its edges: adjacency in O(nodes + edges) memory.
//
// Thread-safety: pure functions; the graph is immutable.
#ifndef GRAPEVINE_TOPOLOGY_STORED_GRAPH_H_
#define GRAPEVINE_TOPOLOGY_STORED_GRAPH_H_

#include <compare>
#include <span>
#include <string>
#include <vector>

#include "topology/topology.h"

namespace grapevine {

struct Edge {
  Rank from;
  Rank to;
  auto operator<=>(const Edge&) const = default;
};

// Above this many edges a graph is not stored but refused.
constexpr int64_t kMaxStoredEdges = 100'000'000;

// Ranks in [0, n) and no loops; an edge that is given twice, in whichever
// direction, counts once.
std::shared_ptr<const Topology> MakeStoredGraph(std::string name, Rank n, std::vector<Edge> edges);

// A node that node 0 cannot reach over `edges`, the lowest, if there is one.
std::optional<Rank> FirstUnreachable(Rank n, std::span<const Edge> edges);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_STORED_GRAPH_H_
