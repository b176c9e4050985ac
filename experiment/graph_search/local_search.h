// Improves schedules by small changes, the weights fitted anew after each, as long as a number of
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
  Rank degree = 0;          // of a node in a round
  bool fixed = false;       // one round only
  int64_t simulations = 0;  // of the judge, in all
  uint64_t seed = 1;
  const std::atomic<bool>* interrupted = nullptr;  // no more candidates once set
};

// A schedule that is not simulated yet.
struct FittedSchedule {
  std::vector<WeightedRound> rounds;
  std::shared_ptr<const Mixing> mixing;
  Round to_consensus = 0;
  double estimate = 0;  // seconds, by the loads
};
// Better weights, if there are some for the rounds to consensus; edges with next to none are
// dropped. None where a node's degree is above the limit, or consensus takes more than `seconds` by
// the loads. `work` bounds the search for weights, in multiplications and additions.
std::optional<FittedSchedule> Fitted(std::vector<WeightedRound> rounds, const LinkLoads& loads,
                                     const SearchLimits& limits, double seconds, double work);

// Takes the graphs in turn, and each the most promising of a few changes; one that is faster in the
// simulator takes its place. Ends when the judge has made `limits.simulations`. `on_judged` is
// called after each simulation. Errors are the judge's.
absl::Status ImproveAll(const LinkLoads& loads, const SearchLimits& limits, Judge* judge,
                        std::vector<SearchedGraph>* graphs,
                        const std::function<void(const JudgedGraph&)>& on_judged);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_LOCAL_SEARCH_H_
