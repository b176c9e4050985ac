// Finds the fastest of several plans for one computation. Each plan is measured twice, in turns,
// and the result is cached.
//
// Thread-safe. Two threads that ask for the same plan at once both measure.
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

// A choice among candidates, each given by its workspace.
struct PlanChoice {
  // Operation, shapes, types, device and library version: equal keys have equal candidates.
  std::string key;
  std::span<const int64_t> workspace_bytes;  // in the order in which candidates were proposed
  int64_t most_workspace_bytes = 0;
};

// The fastest candidate and its time.
struct FastestPlan {
  size_t index = 0;
  double seconds = 0;
};

class PlanCache {
 public:
  // Returns the seconds that candidate `index` takes, or the reason why it cannot run.
  using Measure = std::function<absl::StatusOr<double>(size_t index)>;

  // Returns the fastest candidate whose workspace fits, by the best time of each; the first of
  // equals. A single candidate is measured once, to know that it runs. Candidates that cannot run
  // are skipped; after one that does not end (DeadlineExceeded), no other is tried. Fails if no
  // workspace fits (ResourceExhausted), or with the reason of the last candidate that failed.
  absl::StatusOr<FastestPlan> Choose(const PlanChoice& choice, const Measure& measure);

 private:
  Mutex mutex_;
  std::map<std::string, FastestPlan> chosen_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_LIBRARY_PLAN_CACHE_H_
