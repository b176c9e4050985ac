// The gradients of a run whose nodes do not go through rounds together (AlgorithmKind::rounds):
// so many by all workers, of which a fast one does more.
//
// A worker has a limit, its own bound on its steps, which moves outwards as it works: guided
// self-scheduling (Polychronopoulos & Kuck 1987, IEEE Trans. Computers C-36(12)). What it may have
// ahead of it is a share of what is left: large at first, so that reports are few; two steps until
// there are no two for everybody, so that nobody comes to its limit before the end, and ends a
// window there (algorithm/server/async_worker.h); then one, so that a slow worker is not left with
// several when the others have none. Limits never move inwards, and add up to the budget in the
// end: no gradient is computed in vain, and none too many.
//
// Rank 0's coordinator and the simulator share one budget out among their nodes in the same way;
// they differ in what a worker's report costs.
//
// Thread-compatible.
#ifndef GRAPEVINE_ALGORITHM_GRADIENT_BUDGET_H_
#define GRAPEVINE_ALGORITHM_GRADIENT_BUDGET_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"

namespace grapevine {

class GradientBudget {
 public:
  // The most steps that a worker may have ahead of it.
  static constexpr int64_t kMaxAhead = 64;

  // Shared out among the ranks below `workers`, at least one. Empty until it is extended.
  explicit GradientBudget(Rank workers);

  // Extends it to `total` gradients; a smaller number changes nothing. The workers whose limits
  // have moved, ascending.
  std::vector<Rank> Extend(int64_t total);
  // `rank` has done so many steps. Whether its limit has moved: it has whenever the worker has
  // reached it, as long as anything is left. InvalidArgument, phrased to follow "rank 3 ", says
  // what no worker can have done, and changes nothing.
  absl::StatusOr<bool> OnSteps(Rank rank, Round steps);

  Rank workers() const { return static_cast<Rank>(workers_.size()); }
  Round limit(Rank rank) const { return workers_[rank].limit; }
  // What all workers together have done, as far as they have reported.
  int64_t steps() const { return steps_; }
  int64_t total() const { return total_; }
  // Whether the limits add up to all of it.
  bool spent() const { return granted_ == total_; }

 private:
  struct Worker {
    Round steps = 0;
    Round limit = 0;
  };

  // Moves its limit until enough is ahead of it; false if it is where it was.
  bool Grant(Worker& worker);

  std::vector<Worker> workers_;
  int64_t total_ = 0;
  int64_t granted_ = 0;  // the sum of the limits
  int64_t steps_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_GRADIENT_BUDGET_H_
