// Objectives that wrap another one and clip, accumulate, measure or move its gradients.
//
// Thread-safety: as each class says.
#ifndef GRAPEVINE_MODEL_PROBLEM_OBJECTIVE_WRAPPERS_H_
#define GRAPEVINE_MODEL_PROBLEM_OBJECTIVE_WRAPPERS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/gradient.h"
#include "base/ids.h"
#include "kernels/device/device.h"
#include "kernels/vector/replica_layout.h"
#include "model/network/compute_context.h"
#include "model/problem/objective.h"

namespace grapevine {

// An objective that computes with another one inside. Everything except gradients and ReadyAt is
// forwarded to the inner objective, unless a subclass overrides it. ReadyAt is not forwarded,
// because an objective that works on a whole gradient has no part of it early. Thread-compatible,
// as the inner objective.
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
  // Computes the inner objective's gradient, in parts if `final_from` is not null.
  absl::StatusOr<double> Inside(const float* replica, int64_t round, float* gradient,
                                const FinalFrom& final_from = nullptr) {
    return final_from ? inside_->GradientInParts(replica, round, gradient, final_from)
                      : inside_->Gradient(replica, round, gradient);
  }

 private:
  const std::unique_ptr<Objective> inside_;
};

// An objective whose gradients are clipped by their norm (kernels/vector/norms.h).
//
// Clipping applies to one node's own gradient, over all its parameters and before anything else:
// before it is averaged with others' or sent to a server, and before momentum and weight
// decay. So the norm is that of a whole gradient under every algorithm, and does not depend on how
// buckets or servers divide it later. The statistics of batch norm are not changed.
//
// No part of a gradient is final before its norm is known, so that no part is ready early.
// Thread-compatible, as the inner objective.
class ClippedObjective final : public ForwardingObjective {
 public:
  // `limit` is the largest norm and must be positive. `objective` must compute in `context`.
  // Returns ResourceExhausted if the device has no memory for the norm.
  static absl::StatusOr<std::unique_ptr<ClippedObjective>> Make(
      std::unique_ptr<Objective> objective, double limit, const ComputeContext& context);

  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override;

 private:
  ClippedObjective(std::unique_ptr<Objective> objective, double limit)
      : ForwardingObjective(std::move(objective)), limit_(limit) {}

  const double limit_;
  // The following members are used on a device only; `stream_` is null on the CPU.
  DeviceStream* stream_ = nullptr;
  std::chrono::nanoseconds timeout_{};
  std::shared_ptr<void> scratch_;
};

// Objectives whose gradients are means over several passes, so that a batch need not fit in
// memory. The gradient of a round is the mean of the gradients of its passes' batches, and its loss
// is the mean of their losses.
//
// Passes are numbered consecutively across rounds, and are the rounds of the inner objective: the
// stream of batches is cut into rounds differently, but the samples and their order are those of
// the undivided batch. Sums are in the order of the passes. Each pass has batch-norm statistics of
// its own, and the round has their mean, which differs from the statistics of the undivided batch.
//
// The differences between the passes' gradients show how noisy a gradient is; Objective::noise
// returns this noise if it is requested.
struct Accumulation {
  PassesOf passes;
  // Whether noise is measured, which costs a sweep over each pass's gradient and one over their
  // mean. Rounds of one pass have no noise.
  bool measures_noise = false;
};

// Wraps objectives of one thread, which must compute in `context`. They share the memory of one
// sum, which a round of one pass does not need. The parts of a round's gradient become final in its
// last pass. Returns ResourceExhausted if there is no memory for the sum.
absl::StatusOr<std::vector<std::unique_ptr<Objective>>> Accumulated(
    std::vector<std::unique_ptr<Objective>> objectives, Accumulation accumulation,
    const ComputeContext& context);

// Wraps objectives so that they measure, in some rounds, the norms of the tensors of a gradient and
// of the replica at which it is taken (base/gradient.h).
//
// The parts of a gradient are measured before they are announced, because others may write to them
// afterwards. They are announced as early as the inner objective announces them, except for tensors
// that a part cuts.
//
// The objectives must belong to one thread and compute in `context`. A round for which `measured`
// returns true costs one sweep over the parameters and one over their gradient, and on a device a
// wait for both; other rounds cost nothing. Returns ResourceExhausted if the device has no memory
// for the norms.
absl::StatusOr<std::vector<std::unique_ptr<Objective>>> Normed(
    std::vector<std::unique_ptr<Objective>> objectives, std::function<bool(int64_t round)> measured,
    const ComputeContext& context);

// An objective that computes on the CPU for a node whose vectors are on a device. It downloads
// the replica and uploads the gradient, on the stream of the node's gradients. Gradient takes
// pointers to device memory, Initialize to host memory. Thread-compatible.
class HostObjective final : public Objective {
 public:
  // Returns ResourceExhausted if the host has no memory for the copies.
  static absl::StatusOr<std::unique_ptr<HostObjective>> Make(std::unique_ptr<Objective> objective,
                                                             const ComputeContext& context);

  const ReplicaLayout& layout() const override { return objective_->layout(); }
  void Initialize(float* replica) override { objective_->Initialize(replica); }
  absl::Status Prepare() override { return objective_->Prepare(); }
  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override {
    return GradientInParts(replica, round, gradient, [](int64_t) {});
  }
  absl::StatusOr<double> GradientInParts(const float* replica, int64_t round, float* gradient,
                                         const FinalFrom& final_from) override;
  double ReadyAt(int64_t from, int64_t round) const override {
    return objective_->ReadyAt(from, round);
  }
  int64_t batch_size() const override { return objective_->batch_size(); }
  void DealAgain(int64_t from, std::span<const Rank> living) override {
    objective_->DealAgain(from, living);
  }

 private:
  HostObjective(std::unique_ptr<Objective> objective, const ComputeContext& context,
                std::shared_ptr<void> memory);

  const std::unique_ptr<Objective> objective_;
  DeviceStream* const stream_;
  const std::chrono::nanoseconds timeout_;
  const std::shared_ptr<void> memory_;  // pinned memory of replica_ and gradient_
  float* const replica_;
  float* const gradient_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_OBJECTIVE_WRAPPERS_H_
