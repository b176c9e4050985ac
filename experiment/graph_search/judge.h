// What a graph and its weights are worth on a simulated network: the time to consensus. The rounds
// come from the matrices, their time from the simulator.
//
// Thread-safety: thread-compatible.
#ifndef GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_JUDGE_H_
#define GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_JUDGE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "experiment/simulated/simulated_cluster.h"
#include "run/config/config.pb.h"
#include "topology/weights/mixing.h"

namespace grapevine {

// Consensus is reached when this share of the nodes' disagreement is left, whatever the
// disagreement was.
inline constexpr double kConsensus = 1e-3;

struct JudgedGraph {
  std::shared_ptr<const Mixing> mixing;
  Rank degree = 0;   // the most replicas that a node sends in a round
  Round rounds = 0;  // rounds to consensus
  // Time of these rounds, from the beginning, as `grapevine sim --rounds` gives it.
  double seconds = 0;
  // What a round leaves of the disagreement in the long run (topology/spectrum). Set only in
  // results.
  double shrink = 0;

  double seconds_per_round() const { return seconds / static_cast<double>(rounds); }
};

// Returns the most replicas that a node sends in a round of a period.
Rank MostSent(const Topology& topology);

class Judge {
 public:
  // `config` is resolved, with the phantom model and the algorithm that are timed. `cluster` is
  // made from it, and must outlive this, as must `interrupted` unless it is null.
  Judge(Config config, const SimulatedCluster* cluster, const std::atomic<bool>* interrupted)
      : config_(std::move(config)), cluster_(cluster), interrupted_(interrupted) {}

  // Simulates the rounds to consensus. If these are more than kSimulated, only kSimulated rounds
  // are simulated, and the second half of them gives the time of the others. Returns none if there
  // is no consensus within `most` rounds. Errors are kInterrupted; any other is a bug.
  absl::StatusOr<std::optional<JudgedGraph>> Time(std::shared_ptr<const Mixing> mixing,
                                                  Round most = kMost);

  static constexpr Round kSimulated = 512;
  static constexpr Round kMost = 100'000;

  // Returns the number of simulations until now.
  int64_t simulations() const { return simulations_; }

 private:
  absl::StatusOr<double> SecondsOf(const std::shared_ptr<const Mixing>& mixing, Round rounds);

  const Config config_;
  const SimulatedCluster* const cluster_;
  const std::atomic<bool>* const interrupted_;
  int64_t simulations_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_JUDGE_H_
