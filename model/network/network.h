// A trainable network over a flat replica.
#ifndef GRAPEVINE_MODEL_NETWORK_NETWORK_H_
#define GRAPEVINE_MODEL_NETWORK_NETWORK_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/device/device.h"
#include "kernels/vector/replica_layout.h"
#include "model/data/batch.h"
#include "model/network/compute_context.h"

namespace grapevine {

struct EvaluationSums {
  double loss_sum = 0;  // summed over samples
  int64_t correct = 0;  // samples whose largest logit is the label's
  int64_t samples = 0;
};

// Owns activations and scratch for one batch size at a time; never weights.
// Thread-compatible: one thread at a time.
class Network {
 public:
  virtual ~Network() = default;

  virtual const std::string& name() const = 0;
  virtual const ReplicaLayout& layout() const = 0;
  virtual ImageShape input() const = 0;
  virtual int64_t classes() const = 0;

  // Draws the initial weights (He et al. 2015 unless the network says otherwise) and running
  // statistics from `seed` alone.
  virtual void Initialize(uint64_t seed, float* replica) const = 0;

  // Prepares for gradients of `batch_size` samples; otherwise the first gradient prepares itself.
  virtual absl::Status PrepareGradient(int64_t batch_size) { return absl::OkStatus(); }

  // Returns the mean loss over the batch in training mode. Writes the gradient of this loss into
  // `gradient`, and the batch's statistics into its buffer section.
  virtual absl::StatusOr<double> Gradient(const float* replica, const Batch& batch,
                                          float* gradient) = 0;

  // Computes Gradient and reports parts that are final; see Objective::GradientInParts.
  virtual absl::StatusOr<double> GradientInParts(
      const float* replica, const Batch& batch, float* gradient,
      const std::function<void(int64_t from)>& final_from) {
    return Gradient(replica, batch, gradient);
  }
  virtual double ReadyAt(int64_t from) const { return 1; }

  // Writes the batch's statistics, in training mode, into the buffer section of `statistics`. That
  // is a vector of the layout's size, whose other elements are not touched. Takes a fraction of a
  // gradient's memory and time.
  virtual absl::Status Statistics(const float* replica, const Batch& batch, float* statistics) = 0;

  // Evaluates `replica` in inference mode, with the running statistics in its buffers.
  virtual absl::StatusOr<EvaluationSums> Evaluate(const float* replica, const Batch& batch) = 0;

 private:
  friend class HeldReplica;
  // Called by HeldReplica.
  virtual void Hold(const float* replica) {}
  virtual void Release() {}
};

// Announces that a replica does not change over several calls of `network`, so that a network that
// copies replicas copies it only once. A network may have one HeldReplica at a time.
class HeldReplica {
 public:
  HeldReplica(Network& network, const float* replica) : network_(network) {
    network_.Hold(replica);
  }
  ~HeldReplica() { network_.Release(); }
  HeldReplica(const HeldReplica&) = delete;
  HeldReplica& operator=(const HeldReplica&) = delete;

 private:
  Network& network_;
};

// A network on a device for callers whose replicas are in host memory, such as evaluations of
// averaged models that come from other nodes.
//
// Every call copies the replica to the device along with the batch, unless it is held
// (HeldReplica). All pointers are to host memory. Thread-compatible.
class HostNetwork final : public Network {
 public:
  // `network` must compute in `context`. Returns ResourceExhausted if the device has no memory for
  // a replica and a gradient.
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

  // Queues the upload of `replica`, unless it is the held one and has been uploaded. Returns the
  // first error of queueing, also of earlier calls.
  absl::Status Upload(const float* replica);
  // Downloads the elements of the gradient from `from` on, and waits for them.
  absl::Status DownloadGradient(int64_t from, float* gradient);

  const std::unique_ptr<Network> network_;
  DeviceStream* const stream_;
  const std::chrono::nanoseconds timeout_;
  const std::shared_ptr<void> memory_;  // device memory of replica_ and gradient_
  float* const replica_;
  float* const gradient_;
  const float* held_ = nullptr;      // the held replica in host memory, or null
  const float* uploaded_ = nullptr;  // held_ once replica_ has a copy of it, otherwise null
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_NETWORK_H_
