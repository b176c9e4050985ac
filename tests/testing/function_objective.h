// An objective whose gradient is a function of (rank, round, x), as Cluster takes it, for drivers
// that need an Objective.
#ifndef GRAPEVINE_TESTS_TESTING_FUNCTION_OBJECTIVE_H_
#define GRAPEVINE_TESTS_TESTING_FUNCTION_OBJECTIVE_H_

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "base/ids.h"
#include "model/problem/objective.h"

namespace grapevine::testing {

class FunctionObjective final : public Objective {
 public:
  using Function =
      std::function<void(Rank, Round, std::span<const float> x, std::span<float> gradient)>;

  FunctionObjective(Rank rank, ReplicaLayout layout, Function gradient)
      : rank_(rank), layout_(std::move(layout)), gradient_(std::move(gradient)) {}

  const ReplicaLayout& layout() const override { return layout_; }
  void Initialize(float* replica) override { std::fill_n(replica, layout_.size, 0.0f); }
  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override {
    const size_t size = static_cast<size_t>(layout_.size);
    std::fill_n(gradient, size, 0.0f);
    gradient_(rank_, round, {replica, size}, {gradient, size});
    if (constant_) std::fill_n(gradient, size, *constant_);
    return loss_;
  }
  // The second half first.
  absl::StatusOr<double> GradientInParts(const float* replica, int64_t round, float* gradient,
                                         const FinalFrom& final_from) override {
    absl::StatusOr<double> loss = Gradient(replica, round, gradient);
    final_from(layout_.size / 2);
    return loss;
  }
  double ReadyAt(int64_t from, int64_t round) const override {
    return from < layout_.size / 2 ? 1 : 0.5;
  }
  int64_t batch_size() const override { return 1; }

  void set_loss(double loss) { loss_ = loss; }
  // Sets all elements of later gradients.
  void set_gradient(float constant) { constant_ = constant; }

 private:
  const Rank rank_;
  const ReplicaLayout layout_;
  const Function gradient_;
  double loss_ = 0.5;
  std::optional<float> constant_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_FUNCTION_OBJECTIVE_H_
