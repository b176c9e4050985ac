// What a node minimizes: F_i of the decentralized problem min (1/n) sum_i F_i(x).
//
// Implementations: a network over the node's shard of a data set, a noisy
// quadratic with a known optimum, and the phantom that only takes time.
#ifndef GRAPEVINE_MODEL_OBJECTIVE_H_
#define GRAPEVINE_MODEL_OBJECTIVE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kernels/replica_layout.h"

namespace grapevine {

// Thread-compatible: one thread at a time. The replica passed in is only read.
class Objective {
 public:
  virtual ~Objective() = default;

  virtual const ReplicaLayout& layout() const = 0;

  // Writes the starting replica: a function of the run's seed alone, so that
  // all nodes start alike. `replica` has layout().size elements.
  virtual void Initialize(float* replica) = 0;

  // The stochastic gradient of this node's batch of `round` at `replica`, into
  // `gradient` (layout().size elements; its buffer section receives the batch's
  // statistics, see ReplicaLayout::buffer_momentum). Returns the batch's mean
  // loss. The batch is a function of (seed, node, round) alone.
  virtual absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) = 0;

  // Samples in one local batch.
  virtual int64_t batch_size() const = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_OBJECTIVE_H_
