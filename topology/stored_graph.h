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

// A graph with more edges is refused.
constexpr int64_t kMaxStoredEdges = 100'000'000;

// An undirected graph. Ranks are in [0, n) and there are no loops; an edge given twice, in either
// direction, counts once.
std::shared_ptr<const Topology> MakeStoredGraph(std::string name, Rank n, std::vector<Edge> edges);

// A graph whose edges go one way each, likewise; undirected if every edge is there both ways.
std::shared_ptr<const Topology> MakeDirectedGraph(std::string name, Rank n,
                                                  std::vector<Edge> edges);

// The lowest node that node 0 cannot reach over `edges`, both ways each, if there is one.
std::optional<Rank> FirstUnreachable(Rank n, std::span<const Edge> edges);

// Two nodes, one of them 0, without a path from the first to the second over `edges`, one way
// each; none if the graph is strongly connected.
std::optional<Edge> MissingPath(Rank n, std::span<const Edge> edges);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_STORED_GRAPH_H_
