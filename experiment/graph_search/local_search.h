// Improves schedules by small changes, and fits the weights anew after each, as long as a number of
// simulations allows.
//
// Thread-safety: pure functions, but for the judge.
#ifndef GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_LOCAL_SEARCH_H_
#define GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_LOCAL_SEARCH_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "experiment/graph_search/judge.h"
#include "experiment/graph_search/link_loads.h"
#include "topology/weights/fitted_weights.h"

namespace grapevine {

// A schedule with what it is worth.
struct SearchedGraph {
  std::vector<WeightedRound> rounds;
  JudgedGraph judged;
};

struct SearchLimits {
  Rank degree = 0;          // the largest degree of a node in a round
  bool fixed = false;       // one round only
  int64_t simulations = 0;  // simulations of the judge, in all
  uint64_t seed = 1;
  const std::atomic<bool>* interrupted = nullptr;  // no more candidates once set
};

// A schedule that is not simulated yet.
struct FittedSchedule {
  std::vector<WeightedRound> rounds;
  std::shared_ptr<const Mixing> mixing;
  Round to_consensus = 0;
  double estimate = 0;  // seconds to consensus, by the loads
};
// Returns the rounds with better weights, if some are found for the rounds to consensus; edges with
// next to no weight are dropped. None where a node's degree is above the limit, or consensus takes
// more than `seconds` by the loads. `work` bounds the search for weights, in multiplications and
// additions.
std::optional<FittedSchedule> Fitted(std::vector<WeightedRound> rounds, const LinkLoads& loads,
                                     const SearchLimits& limits, double seconds, double work);

// Improves the graphs in turn, each by the most promising of a few changes. A change that is faster
// in the simulator takes the graph's place. Ends when the judge has made `limits.simulations`
// simulations. Calls `on_judged` after each simulation. Errors are the judge's.
absl::Status ImproveAll(const LinkLoads& loads, const SearchLimits& limits, Judge* judge,
                        std::vector<SearchedGraph>* graphs,
                        const std::function<void(const JudgedGraph&)>& on_judged);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_LOCAL_SEARCH_H_
