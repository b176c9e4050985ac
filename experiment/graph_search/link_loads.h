// What the links of a simulated network make of the messages of a round: an estimate that guides
// the search for graphs. The simulator's time decides (judge.h).
//
// Thread-safety: immutable, safe from any thread.
#ifndef GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_LINK_LOADS_H_
#define GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_LINK_LOADS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "experiment/simulated/simulated_cluster.h"
#include "topology/stored_graph.h"
#include "topology/weights/fitted_weights.h"

namespace grapevine {

class LinkLoads {
 public:
  // For replicas of `bytes` bytes, between the ranks as `cluster` places them.
  LinkLoads(const SimulatedCluster& cluster, int64_t bytes);

  Rank nodes() const { return nodes_; }
  // Returns the seconds of one message alone.
  double Seconds(Rank from, Rank to) const;
  // Returns the seconds of messages that are sent at once, each from `from` to `to`: what the
  // fullest link needs for its bytes, and the longest latency.
  double Seconds(std::span<const Edge> messages) const;
  // Return the seconds of a round, and of all rounds one after the other.
  double Seconds(const WeightedRound& round) const;
  double Seconds(std::span<const WeightedRound> rounds) const;

 private:
  struct Way {
    std::vector<int> links;
    double latency = 0;  // seconds
  };
  const Way& Between(Rank from, Rank to) const { return ways_[from * nodes_ + to]; }

  const Rank nodes_;
  std::vector<double> seconds_;  // seconds of a replica, by link
  std::vector<Way> ways_;        // by sender and receiver
};

// Returns one message each way for every edge.
std::vector<Edge> MessagesOf(const WeightedRound& round);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_LINK_LOADS_H_
