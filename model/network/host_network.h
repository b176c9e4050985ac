// A network on a device, for callers whose replicas are in host memory: evaluations of averaged
// models, received from other nodes.
//
// Every call copies the replica to the device along with the batch, unless it is held
// (HeldReplica).
#ifndef GRAPEVINE_MODEL_NETWORK_HOST_NETWORK_H_
#define GRAPEVINE_MODEL_NETWORK_HOST_NETWORK_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kernels/device/device.h"
#include "model/network/compute_context.h"
#include "model/network/network.h"

namespace grapevine {

// Thread-compatible. All pointers are the host's.
class HostNetwork final : public Network {
 public:
  // `network` computes in `context`. ResourceExhausted without memory for a replica and a
  // gradient.
  static absl::StatusOr<std::unique_ptr<HostNetwork>> Make(std::unique_ptr<Network> network,
                                                           const ComputeContext& context);

  const std::string& name() const override { return network_->name(); }
  const ReplicaLayout& layout() const override { return network_->layout(); }
  ImageShape input() const override { return network_->input(); }
  int64_t classes() const override { return network_->classes(); }
  absl::Status PrepareGradient(int64_t batch_size) override {
    return network_->PrepareGradient(batch_size);
  }
  void Initialize(uint64_t seed, float* replica) const override {
    network_->Initialize(seed, replica);
  }

  absl::StatusOr<double> Gradient(const float* replica, const Batch& batch,
                                  float* gradient) override;
  absl::Status Statistics(const float* replica, const Batch& batch, float* statistics) override;
  absl::StatusOr<EvaluationSums> Evaluate(const float* replica, const Batch& batch) override;

 private:
  HostNetwork(std::unique_ptr<Network> network, const ComputeContext& context,
              std::shared_ptr<void> memory);

  void Hold(const float* replica) override { held_ = replica; }
  void Release() override { held_ = uploaded_ = nullptr; }

  // Unless it is the one that is held, and there already. An error of queueing before.
  absl::Status Upload(const float* replica);
  // From there on; waits.
  absl::Status DownloadGradient(int64_t from, float* gradient);

  const std::unique_ptr<Network> network_;
  DeviceStream* const stream_;
  const std::chrono::nanoseconds timeout_;
  const std::shared_ptr<void> memory_;  // the device's: of the two below
  float* const replica_;
  float* const gradient_;
  // The host's: what stays as it is, and that once replica_ has a copy of it.
  const float* held_ = nullptr;
  const float* uploaded_ = nullptr;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_HOST_NETWORK_H_
