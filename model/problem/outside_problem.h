// The problem of another program, which itself computes the gradients (node/runner/gradient_desk.h)
// and evaluates models. Only the layout of the replica and its initial values are known here.
//
// An experiment gets an OutsideProblem from code that knows the layout (Experiment::BuildFor). The
// records of such a run name their model kOutsideModel, from which no problem can be made.
#ifndef GRAPEVINE_MODEL_PROBLEM_OUTSIDE_PROBLEM_H_
#define GRAPEVINE_MODEL_PROBLEM_OUTSIDE_PROBLEM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "model/problem/objective.h"
#include "model/problem/problem.h"

namespace grapevine {

class OutsideProblem final : public Problem {
 public:
  // `initial` has layout.size elements. `batch_size` is the number of samples of one gradient.
  OutsideProblem(ReplicaLayout layout, std::vector<float> initial, int64_t batch_size);

  const ReplicaLayout& layout() const override { return layout_; }
  void Initialize(float* replica) const override;
  // Makes objectives that know the layout, the initial values and the batch size. Asking them for a
  // gradient is an error.
  absl::StatusOr<std::vector<std::unique_ptr<Objective>>> MakeObjectives(
      int64_t first, int64_t last, const ComputeContext& context) const override;
  // Makes an evaluator whose evaluations have neither loss nor accuracy.
  absl::StatusOr<std::unique_ptr<Evaluator>> MakeEvaluator(const ComputeContext&,
                                                           BetweenBatches) const override;

 private:
  const ReplicaLayout layout_;
  const std::vector<float> initial_;
  const int64_t batch_size_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_OUTSIDE_PROBLEM_H_
