// A trainable network over a flat replica.
#ifndef GRAPEVINE_MODEL_NETWORK_NETWORK_H_
#define GRAPEVINE_MODEL_NETWORK_NETWORK_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/vector/replica_layout.h"
#include "model/data/batch.h"

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

  // Prepares for gradients of `batch_size` samples; otherwise the first one does.
  virtual absl::Status PrepareGradient(int64_t batch_size) { return absl::OkStatus(); }

  // Training mode: mean loss over the batch, its gradient, and into the buffer
  // section of `gradient` the batch's statistics.
  virtual absl::StatusOr<double> Gradient(const float* replica, const Batch& batch,
                                          float* gradient) = 0;

  // The same in parts, and when they are final: see Objective.
  virtual absl::StatusOr<double> GradientInParts(
      const float* replica, const Batch& batch, float* gradient,
      const std::function<void(int64_t from)>& final_from) {
    return Gradient(replica, batch, gradient);
  }
  virtual double ReadyAt(int64_t from) const { return 1; }

  // Training mode without a gradient: the batch's statistics into the buffer
  // section of `statistics`, a vector of the layout's size whose rest is not
  // touched. Needs a fraction of a gradient's memory and time.
  virtual absl::Status Statistics(const float* replica, const Batch& batch, float* statistics) = 0;

  // Inference mode, running statistics from the replica's buffers.
  virtual absl::StatusOr<EvaluationSums> Evaluate(const float* replica, const Batch& batch) = 0;

 private:
  friend class HeldReplica;
  // See HeldReplica.
  virtual void Hold(const float* replica) {}
  virtual void Release() {}
};

// Holds an unchanging replica over several calls of `network`: a network that copies replicas
// copies it once. One at a time.
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

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_NETWORK_H_
