// The function that a node minimizes: F_i of the decentralized problem min (1/n) sum_i F_i(x).
//
// Implementations: a network over the node's shard of a data set, a noisy
// quadratic with a known optimum, and the phantom that only takes time.
#ifndef GRAPEVINE_MODEL_PROBLEM_OBJECTIVE_H_
#define GRAPEVINE_MODEL_PROBLEM_OBJECTIVE_H_

#include <cstdint>
#include <functional>
#include <span>

#include "absl/status/statusor.h"
#include "base/gradient.h"
#include "base/ids.h"
#include "kernels/vector/replica_layout.h"

namespace grapevine {

// The objective of one node. The replicas passed in are only read, except by Initialize.
// Thread-compatible: one thread at a time.
class Objective {
 public:
  virtual ~Objective() = default;

  virtual const ReplicaLayout& layout() const = 0;

  // Writes the initial replica: a function of the run's seed alone, so that all nodes start
  // equal. `replica` has layout().size elements.
  virtual void Initialize(float* replica) = 0;

  // Does the preparations of the first gradient (plans, code for this processor), so that it takes
  // no longer than the others. Errors are those that the first gradient would have.
  virtual absl::Status Prepare() { return absl::OkStatus(); }

  // Writes the stochastic gradient of this node's batch of `round` at `replica` into
  // `gradient` (layout().size elements; its buffer section receives the batch's
  // statistics, see ReplicaLayout::buffer_momentum). Returns the batch's mean
  // loss. The batch is a function of (seed, node, round) alone.
  virtual absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) = 0;

  // Computes Gradient, and calls `final_from(from)` whenever the elements from `from` on are final
  // before the rest. `from` decreases. An objective that does not know this never calls it.
  using FinalFrom = std::function<void(int64_t from)>;
  virtual absl::StatusOr<double> GradientInParts(const float* replica, int64_t round,
                                                 float* gradient, const FinalFrom& final_from) {
    return Gradient(replica, round, gradient);
  }
  // The noise of the last gradient, if it is measured (model/problem/gradient_meters.h).
  virtual GradientNoise noise() const { return {}; }
  // The norms of the last gradient and of the replica at which it was taken, for the tensor of each
  // parameter, in the layout's order (model/problem/objective_wrappers.h). Empty if they are not
  // measured.
  virtual std::span<const TensorNorms> norms() const { return {}; }

  // Returns an estimate, 0 .. 1, of the share of the time of a round's gradient after which the
  // elements from `from` on are final, for modelled times. It is the same on every machine.
  virtual double ReadyAt(int64_t from, int64_t round) const { return 1; }

  // The number of samples in one local batch.
  virtual int64_t batch_size() const = 0;

  // Takes over this node's part of the data of lost nodes (model/data/split.h), because only the
  // nodes `living` (ascending, this node among them) are left from the round `from` on. Must be
  // called before that round's gradient, and with ascending rounds; another call for the same round
  // replaces the last one. Does nothing if the objective has no data.
  virtual void DealAgain(int64_t from, std::span<const Rank> living) {}
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_OBJECTIVE_H_
