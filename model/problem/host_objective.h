// An objective that computes on the CPU, for a node whose vectors live on a device: downloads
// the replica and uploads the gradient, on the stream of its gradients.
#ifndef GRAPEVINE_MODEL_PROBLEM_HOST_OBJECTIVE_H_
#define GRAPEVINE_MODEL_PROBLEM_HOST_OBJECTIVE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "kernels/device/device.h"
#include "model/network/compute_context.h"
#include "model/problem/objective.h"

namespace grapevine {

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

#endif  // GRAPEVINE_MODEL_PROBLEM_HOST_OBJECTIVE_H_
