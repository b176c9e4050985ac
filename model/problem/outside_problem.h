// A problem of another program, which computes the gradients itself (node/runner/gradient_desk.h)
// and evaluates models itself: what is known here is the layout of the replica and where it starts.
//
// An experiment gets one from who knows the layout (Experiment::BuildFor): kOutsideModel, by which
// the records of such a run name their model, says nothing that one could be made from.
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
  // `initial` has layout.size elements. `batch_size`: the samples of one gradient.
  OutsideProblem(ReplicaLayout layout, std::vector<float> initial, int64_t batch_size);

  const ReplicaLayout& layout() const override { return layout_; }
  void Initialize(float* replica) const override;
  // They have the layout and the batch size, and no gradient: asking for one is an error.
  absl::StatusOr<std::vector<std::unique_ptr<Objective>>> MakeObjectives(
      int64_t first, int64_t last, const ComputeContext& context) const override;
  // Knows neither loss nor accuracy.
  absl::StatusOr<std::unique_ptr<Evaluator>> MakeEvaluator(const ComputeContext&,
                                                           BetweenBatches) const override;

 private:
  const ReplicaLayout layout_;
  const std::vector<float> initial_;
  const int64_t batch_size_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_OUTSIDE_PROBLEM_H_
