#include "model/problem/normed_objective.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "base/status_macros.h"
#include "base/tensor_norms.h"
#include "kernels/vector/replica_layout.h"
#include "model/problem/forwarding_objective.h"
#include "model/problem/norm_meter.h"

namespace grapevine {
namespace {

// Thread-compatible, as the objective inside.
class NormedObjective final : public ForwardingObjective {
 public:
  NormedObjective(std::unique_ptr<Objective> objective, std::function<bool(int64_t)> measured,
                  std::shared_ptr<NormMeter> meter)
      : ForwardingObjective(std::move(objective)),
        measured_(std::move(measured)),
        meter_(std::move(meter)) {}

  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override {
    return GradientInParts(replica, round, gradient, nullptr);
  }
  absl::StatusOr<double> GradientInParts(const float* replica, int64_t round, float* gradient,
                                         const FinalFrom& final_from) override;
  std::span<const TensorNorms> norms() const override { return norms_; }
  double ReadyAt(int64_t from, int64_t round) const override {
    return inside().ReadyAt(from, round);
  }

 private:
  absl::StatusOr<double> Measured(const float* replica, int64_t round, float* gradient,
                                  const FinalFrom& final_from);
  // Adds those of the first `tensors` that lie at `from` or behind it, the last one first, and
  // returns how many are left.
  size_t AddFrom(int64_t from, size_t tensors, const float* vector);
  // Takes the norms of all tensors, which were added from the last to the first, of the weights
  // and then of the gradient.
  absl::Status TakeNorms();

  const std::function<bool(int64_t)> measured_;
  const std::shared_ptr<NormMeter> meter_;
  std::vector<TensorNorms> norms_;
};

absl::StatusOr<double> NormedObjective::GradientInParts(const float* replica, int64_t round,
                                                        float* gradient,
                                                        const FinalFrom& final_from) {
  norms_.clear();
  return measured_(round) ? Measured(replica, round, gradient, final_from)
                          : Inside(replica, round, gradient, final_from);
}

absl::StatusOr<double> NormedObjective::Measured(const float* replica, int64_t round,
                                                 float* gradient, const FinalFrom& final_from) {
  const std::vector<TensorView>& tensors = layout().parameters;
  AddFrom(0, tensors.size(), replica);
  size_t left = tensors.size();
  int64_t announced = layout().size;
  FinalFrom part;
  if (final_from) {
    part = [&](int64_t from) {
      left = AddFrom(from, left, gradient);
      // A tensor that begins before `from` is not measured yet, up to its end.
      const int64_t unmeasured = left == 0 ? 0 : tensors[left - 1].offset + tensors[left - 1].size;
      const int64_t measured = std::max(from, unmeasured);
      if (measured >= announced) return;
      announced = measured;
      final_from(announced);
    };
  }
  ASSIGN_OR_RETURN(const double loss, Inside(replica, round, gradient, part));
  AddFrom(0, left, gradient);
  RETURN_IF_ERROR(TakeNorms());
  return loss;
}

size_t NormedObjective::AddFrom(int64_t from, size_t tensors, const float* vector) {
  const std::vector<TensorView>& parameters = layout().parameters;
  for (; tensors > 0 && parameters[tensors - 1].offset >= from; --tensors) {
    const TensorView& tensor = parameters[tensors - 1];
    meter_->Add(vector + tensor.offset, tensor.size);
  }
  return tensors;
}

absl::Status NormedObjective::TakeNorms() {
  ASSIGN_OR_RETURN(const std::vector<double> squares, meter_->Take());
  const std::vector<TensorView>& tensors = layout().parameters;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const size_t weights = tensors.size() - 1 - i;
    norms_.push_back({.tensor = tensors[i].name,
                      .dimensions = static_cast<int64_t>(tensors[i].shape.size()),
                      .weights = std::sqrt(squares[weights]),
                      .gradient = std::sqrt(squares[weights + tensors.size()])});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<Objective>>> Normed(
    std::vector<std::unique_ptr<Objective>> objectives, std::function<bool(int64_t round)> measured,
    const ComputeContext& context) {
  if (objectives.empty()) return objectives;
  ASSIGN_OR_RETURN(std::shared_ptr<NormMeter> meter,
                   NormMeter::Make(objectives.front()->layout().parameter_size, context));
  for (std::unique_ptr<Objective>& objective : objectives) {
    objective = std::make_unique<NormedObjective>(std::move(objective), measured, meter);
  }
  return objectives;
}

}  // namespace grapevine
