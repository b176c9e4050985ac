// The gradients of nodes that do not go through rounds together (AlgorithmKind::rounds): how many
// each may compute (GradientBudget), and how stale they were (Staleness).
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

// A number of gradients that all workers share, of which a fast one computes more.
//
// A worker has a limit, its own bound on its steps, which moves outwards as it works: guided
// self-scheduling (Polychronopoulos & Kuck 1987, IEEE Trans. Computers C-36(12)). What it may have
// ahead of it is a share of what is left: large at first, so that reports are few; the window of
// steps that it takes between two exchanges, and one more, until there are no two for everybody, so
// that nobody comes to its limit before the end, and ends a window there (AsyncWorker); then less,
// so that a slow worker is not left with several when the others have none. Limits never move
// inwards, and add up to the budget in the end: no gradient is computed in vain, and none too many.
//
// Rank 0's coordinator and the simulator share one budget out among their nodes in the same way;
// they differ in what a worker's report costs.
class GradientBudget {
 public:
  // The most steps that a worker may have ahead of it, unless two windows are more.
  static constexpr int64_t kMaxAhead = 64;

  // Shared out among the ranks below `workers`, at least one, which exchange something after every
  // `window` steps (StepsBetweenExchanges). Of `done`, by rank, what each has done before; none has
  // anything if that is empty. Nothing is left until it is extended.
  explicit GradientBudget(Rank workers, Round window = 1, const std::vector<Round>& done = {});

  // Extends it to `total` gradients; a smaller number changes nothing. The workers whose limits
  // have moved, ascending.
  std::vector<Rank> Extend(int64_t total);
  // `rank` has done so many steps. Whether its limit has moved: it has whenever the worker has
  // reached it, as long as anything is left. InvalidArgument, phrased to follow "rank 3 ", says
  // what no worker can have done, and changes nothing.
  absl::StatusOr<bool> OnSteps(Rank rank, Round steps);
  // `rank` is lost, and reports nothing any more: what it has not done, as far as it has reported,
  // is for the others. Those whose limits have moved, ascending. Nothing happens the second time.
  std::vector<Rank> Leave(Rank rank);

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
    bool left = false;
  };

  // Moves its limit until enough is ahead of it; false if it is where it was.
  bool Grant(Worker& worker);
  std::vector<Rank> GrantAll();

  const int64_t least_ahead_;
  std::vector<Worker> workers_;
  Rank sharing_;  // those who have not left
  int64_t total_ = 0;
  int64_t granted_ = 0;  // the sum of the limits
  int64_t steps_ = 0;
};

// How stale the gradients of a node were: what Host::GradientApplied tells a driver. A
// value.
class Staleness {
 public:
  // Bucket b > 0 counts 2^(b-1) to 2^b - 1, bucket 0 those without any: with a thousand workers,
  // a gradient is hundreds of updates old.
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
  // 0 where there is no gradient.
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
