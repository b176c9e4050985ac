// A graph given by its edges: adjacency in O(nodes + edges) memory.
//
// Thread-safety: pure functions; the graph is immutable.
#ifndef GRAPEVINE_TOPOLOGY_STORED_GRAPH_H_
#define GRAPEVINE_TOPOLOGY_STORED_GRAPH_H_

#include <compare>
#include <optional>
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

// The most edges of a graph; a graph with more is refused.
constexpr int64_t kMaxStoredEdges = 100'000'000;

// Makes an undirected graph. Ranks must be in [0, n), and loops are not allowed. An edge given
// twice, in either direction, counts once.
std::shared_ptr<const Topology> MakeStoredGraph(std::string name, Rank n, std::vector<Edge> edges);

// Makes a graph whose edges go one way each. Ranks must be in [0, n), and loops are not allowed. An
// edge given twice counts once. The graph is undirected if every edge is given both ways.
std::shared_ptr<const Topology> MakeDirectedGraph(std::string name, Rank n,
                                                  std::vector<Edge> edges);

// Returns the lowest node that node 0 cannot reach over `edges`, each of which goes both ways; none
// if node 0 reaches all nodes.
std::optional<Rank> FirstUnreachable(Rank n, std::span<const Edge> edges);

// Returns two nodes, one of them 0, without a path from the first to the second over `edges`, each
// of which goes one way; none if the graph is strongly connected.
std::optional<Edge> MissingPath(Rank n, std::span<const Edge> edges);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_STORED_GRAPH_H_
