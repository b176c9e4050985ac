#include "model/problem/outside_problem.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"

namespace grapevine {
namespace {

class OutsideObjective final : public Objective {
 public:
  explicit OutsideObjective(const OutsideProblem* problem, int64_t batch_size)
      : problem_(problem), batch_size_(batch_size) {}

  const ReplicaLayout& layout() const override { return problem_->layout(); }
  void Initialize(float* replica) override { problem_->Initialize(replica); }
  absl::StatusOr<double> Gradient(const float*, int64_t, float*) override {
    return absl::InternalError("the gradient of a model that another program computes");
  }
  int64_t batch_size() const override { return batch_size_; }

 private:
  const OutsideProblem* const problem_;
  const int64_t batch_size_;
};

class UnknownQuality final : public Evaluator {
 public:
  absl::StatusOr<Evaluation> Evaluate(const SharedVector&) override { return Evaluation{}; }
};

}  // namespace

OutsideProblem::OutsideProblem(ReplicaLayout layout, std::vector<float> initial, int64_t batch_size)
    : layout_(std::move(layout)), initial_(std::move(initial)), batch_size_(batch_size) {}

void OutsideProblem::Initialize(float* replica) const { std::ranges::copy(initial_, replica); }

absl::StatusOr<std::vector<std::unique_ptr<Objective>>> OutsideProblem::MakeObjectives(
    int64_t first, int64_t last, const ComputeContext&) const {
  std::vector<std::unique_ptr<Objective>> objectives;
  for (; first < last; ++first) {
    objectives.push_back(std::make_unique<OutsideObjective>(this, batch_size_));
  }
  return objectives;
}

absl::StatusOr<std::unique_ptr<Evaluator>> OutsideProblem::MakeEvaluator(const ComputeContext&,
                                                                         BetweenBatches) const {
  return std::make_unique<UnknownQuality>();
}

}  // namespace grapevine
