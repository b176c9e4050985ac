// Bytes to send and time to wait for, for measuring networks.
#ifndef GRAPEVINE_MODEL_PROBLEM_PHANTOM_PROBLEM_H_
#define GRAPEVINE_MODEL_PROBLEM_PHANTOM_PROBLEM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "model/problem/phantom_objective.h"
#include "model/problem/problem.h"

namespace grapevine {

class PhantomProblem final : public Problem {
 public:
  explicit PhantomProblem(const PhantomOptions& options)
      : options_(options), layout_(PhantomObjective(options).layout()) {}

  const ReplicaLayout& layout() const override { return layout_; }
  // Zeros.
  void Initialize(float* replica) const override;
  absl::StatusOr<std::vector<std::unique_ptr<Objective>>> MakeObjectives(
      int64_t first, int64_t last, const ComputePlace& place) const override;
  absl::StatusOr<std::unique_ptr<Evaluator>> MakeEvaluator(const ComputePlace&,
                                                           BetweenBatches) const override {
    return nullptr;
  }
  bool learns() const override { return false; }

 private:
  const PhantomOptions options_;
  const ReplicaLayout layout_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_PHANTOM_PROBLEM_H_
