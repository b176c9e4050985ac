#include "topology/stored_graph.h"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <utility>

namespace grapevine {
namespace {

// The ends of an edge at which it is listed.
enum class Ends { kFrom, kTo, kBoth };

// For every node, the nodes at the other ends of its edges.
class Adjacency {
 public:
  // A node's neighbours are ascending if the edges are sorted and, for kBoth, have the lower rank
  // first.
  Adjacency(Rank n, std::span<const Edge> edges, Ends ends)
      : begins_(n + 1, 0), neighbours_((ends == Ends::kBoth ? 2 : 1) * edges.size()) {
    const bool from = ends != Ends::kTo, to = ends != Ends::kFrom;
    for (const Edge& edge : edges) {
      if (from) ++begins_[edge.from + 1];
      if (to) ++begins_[edge.to + 1];
    }
    for (Rank rank = 0; rank < n; ++rank) begins_[rank + 1] += begins_[rank];
    std::vector<int64_t> next(begins_.begin(), begins_.end() - 1);
    for (const Edge& edge : edges) {
      if (from) neighbours_[next[edge.from]++] = edge.to;
      if (to) neighbours_[next[edge.to]++] = edge.from;
    }
  }

  std::span<const Rank> Of(Rank rank) const {
    return std::span(neighbours_).subspan(begins_[rank], begins_[rank + 1] - begins_[rank]);
  }

 private:
  std::vector<int64_t> begins_;   // where the neighbours of each rank begin, and the end
  std::vector<Rank> neighbours_;  // the neighbours of all ranks, one rank after the other
};

class StoredGraph final : public Topology {
 public:
  // `in` is null where the graph is undirected.
  StoredGraph(std::string name, Rank n, Adjacency out, std::unique_ptr<const Adjacency> in)
      : name_(std::move(name)), size_(n), out_(std::move(out)), in_(std::move(in)) {}

  std::string name() const override { return name_; }
  Rank size() const override { return size_; }
  Round period() const override { return 1; }
  bool directed() const override { return in_ != nullptr; }

  void InNeighbours(Rank rank, Round, std::vector<Rank>* neighbours) const override {
    const std::span<const Rank> in = In(rank);
    neighbours->assign(in.begin(), in.end());
  }
  void OutNeighbours(Rank rank, Round, std::vector<Rank>* neighbours) const override {
    const std::span<const Rank> out = out_.Of(rank);
    neighbours->assign(out.begin(), out.end());
  }
  Rank Degree(Rank rank, Round) const override { return static_cast<Rank>(In(rank).size()); }
  Rank OutDegree(Rank rank, Round) const override {
    return static_cast<Rank>(out_.Of(rank).size());
  }

 private:
  std::span<const Rank> In(Rank rank) const { return in_ ? in_->Of(rank) : out_.Of(rank); }

  const std::string name_;
  const Rank size_;
  const Adjacency out_;
  const std::unique_ptr<const Adjacency> in_;
};

void SortEachOnce(std::vector<Edge>* edges) {
  std::sort(edges->begin(), edges->end());
  edges->erase(std::unique(edges->begin(), edges->end()), edges->end());
}

bool EveryEdgeGoesBothWays(const std::vector<Edge>& sorted) {
  return std::ranges::all_of(sorted, [&](const Edge& edge) {
    return std::ranges::binary_search(sorted, Edge{edge.to, edge.from});
  });
}

// Returns the lowest node that node 0 does not reach.
std::optional<Rank> FirstUnreached(Rank n, const Adjacency& adjacency) {
  std::vector<bool> reached(n, false);
  std::vector<Rank> open = {0};
  reached[0] = true;
  while (!open.empty()) {
    const Rank rank = open.back();
    open.pop_back();
    for (const Rank next : adjacency.Of(rank)) {
      if (!reached[next]) open.push_back(next);
      reached[next] = true;
    }
  }
  const auto first = std::ranges::find(reached, false);
  if (first == reached.end()) return std::nullopt;
  return static_cast<Rank>(first - reached.begin());
}

}  // namespace

std::shared_ptr<const Topology> MakeStoredGraph(std::string name, Rank n, std::vector<Edge> edges) {
  for (Edge& edge : edges) {
    if (edge.from > edge.to) std::swap(edge.from, edge.to);
  }
  SortEachOnce(&edges);
  return std::make_shared<StoredGraph>(std::move(name), n, Adjacency(n, edges, Ends::kBoth),
                                       nullptr);
}

std::shared_ptr<const Topology> MakeDirectedGraph(std::string name, Rank n,
                                                  std::vector<Edge> edges) {
  SortEachOnce(&edges);
  if (EveryEdgeGoesBothWays(edges)) return MakeStoredGraph(std::move(name), n, std::move(edges));
  return std::make_shared<StoredGraph>(std::move(name), n, Adjacency(n, edges, Ends::kFrom),
                                       std::make_unique<const Adjacency>(n, edges, Ends::kTo));
}

std::optional<Rank> FirstUnreachable(Rank n, std::span<const Edge> edges) {
  std::vector<Rank> rank(n), parent(n);
  boost::disjoint_sets<Rank*, Rank*> components(rank.data(), parent.data());
  for (Rank node = 0; node < n; ++node) components.make_set(node);
  for (const Edge& edge : edges) components.union_set(edge.from, edge.to);
  for (Rank node = 1; node < n; ++node) {
    if (components.find_set(node) != components.find_set(0)) return node;
  }
  return std::nullopt;
}

std::optional<Edge> MissingPath(Rank n, std::span<const Edge> edges) {
  if (const auto node = FirstUnreached(n, Adjacency(n, edges, Ends::kFrom))) return Edge{0, *node};
  if (const auto node = FirstUnreached(n, Adjacency(n, edges, Ends::kTo))) return Edge{*node, 0};
  return std::nullopt;
}

}  // namespace grapevine
