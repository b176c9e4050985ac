// An objective that computes with another one inside: everything but gradients is the inner one's,
// unless the class says otherwise.
//
// ReadyAt is not: an objective that works on a whole gradient has none of it early.
#ifndef GRAPEVINE_MODEL_PROBLEM_FORWARDING_OBJECTIVE_H_
#define GRAPEVINE_MODEL_PROBLEM_FORWARDING_OBJECTIVE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "base/gradient_noise.h"
#include "base/ids.h"
#include "base/tensor_norms.h"
#include "kernels/vector/replica_layout.h"
#include "model/problem/objective.h"

namespace grapevine {

// Thread-compatible, as the objective inside.
class ForwardingObjective : public Objective {
 public:
  const ReplicaLayout& layout() const override { return inside_->layout(); }
  void Initialize(float* replica) override { inside_->Initialize(replica); }
  absl::Status Prepare() override { return inside_->Prepare(); }
  GradientNoise noise() const override { return inside_->noise(); }
  std::span<const TensorNorms> norms() const override { return inside_->norms(); }
  int64_t batch_size() const override { return inside_->batch_size(); }
  void DealAgain(int64_t from, std::span<const Rank> living) override {
    inside_->DealAgain(from, living);
  }

 protected:
  explicit ForwardingObjective(std::unique_ptr<Objective> inside) : inside_(std::move(inside)) {}

  const Objective& inside() const { return *inside_; }
  // The inner one's gradient, in parts if somebody is told of them.
  absl::StatusOr<double> Inside(const float* replica, int64_t round, float* gradient,
                                const FinalFrom& final_from = nullptr) {
    return final_from ? inside_->GradientInParts(replica, round, gradient, final_from)
                      : inside_->Gradient(replica, round, gradient);
  }

 private:
  const std::unique_ptr<Objective> inside_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_FORWARDING_OBJECTIVE_H_
