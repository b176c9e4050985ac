// The gradients of nodes that do not go through rounds together (AlgorithmKind::rounds): how many
// each node may compute (GradientBudget), and how stale they were (Staleness).
//
// Thread-compatible.
#ifndef GRAPEVINE_ALGORITHM_ASYNC_GRADIENTS_H_
#define GRAPEVINE_ALGORITHM_ASYNC_GRADIENTS_H_

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"

namespace grapevine {

// A number of gradients that all workers share; a fast worker computes more of them.
//
// Each worker has a limit, its own bound on its steps, which moves outwards as it works: guided
// self-scheduling (Polychronopoulos & Kuck 1987, IEEE Trans. Computers C-36(12)). The steps that a
// worker may have ahead of it are a share of what is left. At first the share is large, so that
// reports are few. Then it is the window of steps between two exchanges, and one more window, for
// as long as two windows are left for every worker, so that no worker comes to its limit before the
// end, and ends a window there (AsyncWorker). In the end it is smaller, so that a slow worker is
// not left with several steps when the others have none. Limits never move inwards, and add up to
// the budget in the end: no gradient is computed in vain, and none too many.
//
// Rank 0's coordinator and the simulator share out one budget among their nodes in this way; they
// differ in what a worker's report costs.
class GradientBudget {
 public:
  // The most steps that a worker may have ahead of it, unless two windows are more.
  static constexpr int64_t kMaxAhead = 64;

  // Shares the budget out among the ranks below `workers`, at least one, which exchange something
  // after every `window` steps (StepsBetweenExchanges). `done` holds the steps that each rank has
  // done before; if it is empty, no rank has done any. Nothing is left until the budget is
  // extended.
  explicit GradientBudget(Rank workers, Round window = 1, const std::vector<Round>& done = {});

  // Extends the budget to `total` gradients; a smaller number changes nothing. Returns the workers
  // whose limits have moved, ascending.
  std::vector<Rank> Extend(int64_t total);
  // Records that `rank` has done `steps` steps in all. Returns whether its limit has moved, which
  // it does whenever the worker has reached it, as long as anything is left. An InvalidArgument
  // error, phrased to follow "rank 3 ", describes a report that no worker can have made, which
  // changes nothing.
  absl::StatusOr<bool> OnSteps(Rank rank, Round steps);
  // Records that `rank` is lost and reports nothing any more: the others get the steps that it has
  // not reported as done. Returns the workers whose limits have moved, ascending. A second call
  // does nothing.
  std::vector<Rank> Leave(Rank rank);

  Rank workers() const { return static_cast<Rank>(workers_.size()); }
  Round limit(Rank rank) const { return workers_[rank].limit; }
  // Returns the steps that all workers together have done, as far as they have reported.
  int64_t steps() const { return steps_; }
  int64_t total() const { return total_; }
  // Returns whether the limits add up to the whole budget.
  bool spent() const { return granted_ == total_; }

 private:
  struct Worker {
    Round steps = 0;
    Round limit = 0;
    bool left = false;
  };

  // Moves the worker's limit until enough steps are ahead of it; returns false if the limit stays.
  bool Grant(Worker& worker);
  std::vector<Rank> GrantAll();

  const int64_t least_ahead_;
  std::vector<Worker> workers_;
  Rank sharing_;  // workers that have not left
  int64_t total_ = 0;
  int64_t granted_ = 0;  // the sum of the limits
  int64_t steps_ = 0;
};

// How stale the gradients of a node were, as Host::GradientApplied tells a driver. A value.
class Staleness {
 public:
  // Bucket b > 0 counts gradients of staleness 2^(b-1) to 2^b - 1, bucket 0 those of staleness 0:
  // with a thousand workers, a gradient is hundreds of updates old.
  static constexpr size_t kBuckets = 64;
  using Buckets = std::array<int64_t, kBuckets>;

  // CHECKs that `staleness` is not negative.
  void Add(int64_t staleness) {
    CHECK_GE(staleness, 0);
    ++gradients_;
    sum_ += static_cast<double>(staleness);
    greatest_ = std::max(greatest_, staleness);
    ++buckets_[std::bit_width(static_cast<uint64_t>(staleness))];
  }

  int64_t gradients() const { return gradients_; }
  // Returns the mean staleness; 0 without gradients.
  double mean() const { return gradients_ == 0 ? 0 : sum_ / static_cast<double>(gradients_); }
  int64_t greatest() const { return greatest_; }
  const Buckets& buckets() const { return buckets_; }

 private:
  int64_t gradients_ = 0;
  double sum_ = 0;
  int64_t greatest_ = 0;
  Buckets buckets_ = {};
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ASYNC_GRADIENTS_H_
