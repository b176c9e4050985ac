// Objectives around another one, which clip, accumulate, measure or move its gradients.
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

// An objective that computes with another one inside: everything but gradients is the inner one's,
// unless the class says otherwise. ReadyAt is not: an objective that works on a whole gradient has
// none of it early. Thread-compatible, as the objective inside.
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

// An objective whose gradients are clipped by their norm (kernels/vector/norms.h).
//
// What is clipped is one node's own gradient, over all its parameters and before anything is done
// with it: before it is averaged with others' or sent to a server, before momentum and weight
// decay. So the norm is that of a whole gradient under every algorithm, and the same whether
// buckets or servers cut it later. The statistics of batch norm are left alone.
//
// Nothing of a gradient is final before its norm is known: it has no parts that are ready early.
// Thread-compatible, as the objective inside.
class ClippedObjective final : public ForwardingObjective {
 public:
  // `limit`, of the norm, is positive. `objective` computes in `context`. ResourceExhausted when
  // its device has no memory for the norm.
  static absl::StatusOr<std::unique_ptr<ClippedObjective>> Make(
      std::unique_ptr<Objective> objective, double limit, const ComputeContext& context);

  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override;

 private:
  ClippedObjective(std::unique_ptr<Objective> objective, double limit)
      : ForwardingObjective(std::move(objective)), limit_(limit) {}

  const double limit_;
  // Null on the CPU, which needs no scratch memory either.
  DeviceStream* stream_ = nullptr;
  std::chrono::nanoseconds timeout_{};
  std::shared_ptr<void> scratch_;
};

// Objectives whose gradients are means over several passes, so that a batch need not fit in
// memory: the gradient of a round is the mean of those of its passes' batches, and so is the loss.
//
// The passes of all rounds are numbered through, and are the rounds of the objective inside: a
// stream of batches is cut into rounds differently, but the samples and their order are those of
// the undivided batch. Sums are in the order of the passes. Batch-norm statistics are each pass's
// own, and their mean is what the round has: they are not those of the undivided batch.
//
// What the passes' gradients differ by tells how noisy a gradient is: Objective::noise, on demand.
struct Accumulation {
  PassesOf passes;
  // Costs a sweep over each pass's gradient and one over their mean. Rounds of one pass have none.
  bool measures_noise = false;
};

// For objectives of one thread that compute in `context`: they share the memory of one sum, which
// a round of one pass does not need. A round's parts are final in its last pass. ResourceExhausted
// where there is no memory for the sum.
absl::StatusOr<std::vector<std::unique_ptr<Objective>>> Accumulated(
    std::vector<std::unique_ptr<Objective>> objectives, Accumulation accumulation,
    const ComputeContext& context);

// Objectives that measure the norms of their weights' and gradients' tensors in some rounds
// (base/gradient.h): at the replica at which a gradient is taken, and of this gradient.
//
// A gradient's parts are measured before they are announced, because from then on others may write
// there; they are announced as early as by the objective inside, but for a tensor that they cut.
//
// For objectives of one thread that compute in `context`. A round that is `measured` costs one
// sweep over the parameters and one over their gradient, and on a device a wait for both; others
// cost nothing. ResourceExhausted where the device has no memory for the norms.
absl::StatusOr<std::vector<std::unique_ptr<Objective>>> Normed(
    std::vector<std::unique_ptr<Objective>> objectives, std::function<bool(int64_t round)> measured,
    const ComputeContext& context);

// An objective that computes on the CPU, for a node whose vectors live on a device: downloads
// the replica and uploads the gradient, on the stream of its gradients.
// Thread-compatible. The pointers of Gradient are the device's, those of Initialize
// the host's.
class HostObjective final : public Objective {
 public:
  // ResourceExhausted when there is no host memory for the copies.
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
  const std::shared_ptr<void> memory_;  // pinned: of the two below
  float* const replica_;
  float* const gradient_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_OBJECTIVE_WRAPPERS_H_
