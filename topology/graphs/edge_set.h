// The undirected edges of a graph that is being drawn, and whether one is there.
//
// Thread-safety: thread-compatible.
#ifndef GRAPEVINE_TOPOLOGY_GRAPHS_EDGE_SET_H_
#define GRAPEVINE_TOPOLOGY_GRAPHS_EDGE_SET_H_

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "topology/stored_graph.h"

namespace grapevine {

class EdgeSet {
 public:
  bool Contains(Rank a, Rank b) const { return keys_.contains(Key(a, b)); }
  // False when it was there.
  bool Insert(Rank a, Rank b) { return keys_.insert(Key(a, b)).second; }
  void Erase(Rank a, Rank b) { keys_.erase(Key(a, b)); }

  // Ascending, so that the order of hashing shows nowhere.
  std::vector<Edge> Sorted() const {
    std::vector<Edge> edges;
    edges.reserve(keys_.size());
    for (uint64_t key : keys_) {
      edges.push_back({static_cast<Rank>(key >> 32), static_cast<Rank>(key & 0xffffffffu)});
    }
    std::sort(edges.begin(), edges.end());
    return edges;
  }

 private:
  static uint64_t Key(Rank a, Rank b) {
    return static_cast<uint64_t>(std::min(a, b)) << 32 | static_cast<uint32_t>(std::max(a, b));
  }
  absl::flat_hash_set<uint64_t> keys_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_GRAPHS_EDGE_SET_H_
