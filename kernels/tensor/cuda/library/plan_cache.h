// Finds the fastest of several ways to compute the same thing: each is measured twice, in
// turns, and the result cached.
//
// Thread-safe; two threads that ask for the same plan at once both measure.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_PLAN_CACHE_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_PLAN_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "system/mutex.h"

namespace grapevine {

// The candidates' workspaces, in the order in which they were proposed.
struct PlanChoice {
  // Operation, shapes, types, device and library version: equal keys have equal candidates.
  std::string key;
  std::span<const int64_t> workspace_bytes;
  int64_t most_workspace_bytes = 0;
};

// The best of them.
struct FastestPlan {
  size_t index = 0;
  double seconds = 0;
};

class PlanCache {
 public:
  // The seconds that candidate `index` takes, or why it cannot run.
  using Measure = std::function<absl::StatusOr<double>(size_t index)>;

  // The fastest candidate whose workspace fits, by the best time of each; the first of equals.
  // A single one is measured once, to know that it runs. Candidates that cannot run are
  // skipped; after one that does not end (DeadlineExceeded) no other is tried. Errors: none
  // fits, or the last one's reason.
  absl::StatusOr<FastestPlan> Choose(const PlanChoice& choice, const Measure& measure);

 private:
  Mutex mutex_;
  std::map<std::string, FastestPlan> chosen_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_PLAN_CACHE_H_
