// What computes a node's gradients while its replicas travel: a thread
// (gradient_worker), or whatever a driver with a clock of its own has instead.
#ifndef GRAPEVINE_NODE_RUNNER_GRADIENT_COMPUTER_H_
#define GRAPEVINE_NODE_RUNNER_GRADIENT_COMPUTER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithm/event.h"
#include "kernels/vector/aligned_buffer.h"

namespace grapevine {

struct GradientResult {
  Round round;
  absl::StatusOr<double> loss;  // mean over the batch
  // When it began and ended, artificial delays included.
  std::chrono::steady_clock::time_point begin;
  std::chrono::steady_clock::time_point end;
};

// One gradient at a time.
class GradientComputer {
 public:
  // Ends before or after the gradient under way; reports nothing afterwards.
  virtual ~GradientComputer() = default;

  // Writes the gradient at `at` into `into`, both of the layout's size. Reports a
  // part for each of `cuts` (descending) when all from there on is final, and the
  // result after them; from any thread, but not before this returns.
  virtual void Compute(SharedVector at, SharedVector into, Round round,
                       std::vector<int64_t> cuts) = 0;
};

// Where its reports go; both may be called from any thread.
struct GradientReports {
  std::function<void(GradientResult)> done;
  std::function<void(GradientReady)> part;
};
using MakeGradients = std::function<std::unique_ptr<GradientComputer>(GradientReports reports)>;

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_GRADIENT_COMPUTER_H_
