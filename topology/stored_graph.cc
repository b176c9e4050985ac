#include "topology/stored_graph.h"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <utility>

namespace grapevine {
namespace {

class StoredGraph final : public Topology {
 public:
  // `edges` as Canonical gives them.
  StoredGraph(std::string name, Rank n, const std::vector<Edge>& edges)
      : name_(std::move(name)), size_(n), begins_(n + 1, 0), neighbours_(2 * edges.size()) {
    for (const Edge& edge : edges) {
      ++begins_[edge.from + 1];
      ++begins_[edge.to + 1];
    }
    for (Rank rank = 0; rank < size_; ++rank) begins_[rank + 1] += begins_[rank];
    // In this order of the edges every node gets its neighbours ascending.
    std::vector<int64_t> next(begins_.begin(), begins_.end() - 1);
    for (const Edge& edge : edges) {
      neighbours_[next[edge.from]++] = edge.to;
      neighbours_[next[edge.to]++] = edge.from;
    }
  }

  std::string name() const override { return name_; }
  Rank size() const override { return size_; }
  Round period() const override { return 1; }
  bool directed() const override { return false; }

  void InNeighbours(Rank rank, Round, std::vector<Rank>* neighbours) const override {
    neighbours->assign(neighbours_.begin() + begins_[rank],
                       neighbours_.begin() + begins_[rank + 1]);
  }
  void OutNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const override {
    InNeighbours(rank, round, neighbours);
  }
  Rank Degree(Rank rank, Round) const override {
    return static_cast<Rank>(begins_[rank + 1] - begins_[rank]);
  }

 private:
  const std::string name_;
  const Rank size_;
  std::vector<int64_t> begins_;   // of the neighbours of each rank, and the end
  std::vector<Rank> neighbours_;  // of all ranks, one after the other
};

// Lower rank first, sorted, each once.
std::vector<Edge> Canonical(std::vector<Edge> edges) {
  for (Edge& edge : edges) {
    if (edge.from > edge.to) std::swap(edge.from, edge.to);
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

}  // namespace

std::shared_ptr<const Topology> MakeStoredGraph(std::string name, Rank n, std::vector<Edge> edges) {
  return std::make_shared<StoredGraph>(std::move(name), n, Canonical(std::move(edges)));
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

}  // namespace grapevine
