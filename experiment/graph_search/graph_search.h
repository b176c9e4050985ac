// The work behind `grapevine topology --optimize`: the graph and the weights, or the schedule of
// them, by which D-PSGD's nodes reach consensus in the least time on a simulated network. (The
// question of MATCHA, Wang et al. 2019, and of bandwidth-aware topologies.)
//
// Candidates are the usual families, as they are and with their nodes placed well; schedules that
// average exactly; graphs whose dear edges are used less often; and fixed graphs with weights that
// mix fast. The best of them are improved by small changes. An estimate from the loads of links
// guides the search; the simulator judges.
//
// Thread-safety: functions are safe from any thread.
#ifndef GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_GRAPH_SEARCH_H_
#define GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_GRAPH_SEARCH_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiment/graph_search/judge.h"
#include "run/config/config.pb.h"

namespace grapevine {

struct GraphSearchOptions {
  Rank degree = 0;            // the most replicas that a node sends in a round; 0: any number
  bool fixed = false;         // no schedules
  int64_t simulations = 400;  // at most; the families are always simulated
  const std::atomic<bool>* interrupted = nullptr;
  // Called after each simulation with what is done: "120/400 graphs simulated: schedule of 3
  // rounds, 3.7 s to consensus". `better` if the last graph was faster than all before.
  std::function<void(const std::string& done, bool better)> on_progress = nullptr;
};

// The most nodes of a search, which goes through products of dense matrices.
inline constexpr Rank kMostOptimized = 128;

struct GraphSearchResult {
  JudgedGraph best;
  bool best_is_family = false;  // the best graph is a family as it is
  // The families as they are, by time.
  std::vector<JudgedGraph> families;
  // The first family that is allowed: within the degree, and fixed if that was asked for.
  std::optional<size_t> best_family;
  int64_t simulations = 0;
  std::string network;  // every default resolved
  double replica_bytes = 0;
};

// Searches for the best graph. `config` is resolved; its topology, mixing, algorithm and rounds
// play no part, its model counts by its size, and --compute is 0 unless given. The result depends
// on the arguments alone, and is never slower than an allowed family. Errors: kUsage and kInput for
// the network, the model or a number of nodes or degree for which no graph exists, kInterrupted.
absl::StatusOr<GraphSearchResult> SearchGraph(const Config& config,
                                              const GraphSearchOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_GRAPH_SEARCH_H_
