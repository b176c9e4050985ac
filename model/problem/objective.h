// What a node minimizes: F_i of the decentralized problem min (1/n) sum_i F_i(x).
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

// Thread-compatible: one thread at a time. The replica passed in is only read.
class Objective {
 public:
  virtual ~Objective() = default;

  virtual const ReplicaLayout& layout() const = 0;

  // Writes the initial replica: a function of the run's seed alone, so that all nodes start
  // equal. `replica` has layout().size elements.
  virtual void Initialize(float* replica) = 0;

  // Does what the first gradient would do before it begins (plans, code for this processor),
  // so that it takes no longer than the others. Errors are the first gradient's.
  virtual absl::Status Prepare() { return absl::OkStatus(); }

  // The stochastic gradient of this node's batch of `round` at `replica`, into
  // `gradient` (layout().size elements; its buffer section receives the batch's
  // statistics, see ReplicaLayout::buffer_momentum). Returns the batch's mean
  // loss. The batch is a function of (seed, node, round) alone.
  virtual absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) = 0;

  // The same, and calls `final_from(from)` whenever the elements from `from` on are final
  // before the rest; never, if the objective does not know. `from` decreases.
  using FinalFrom = std::function<void(int64_t from)>;
  virtual absl::StatusOr<double> GradientInParts(const float* replica, int64_t round,
                                                 float* gradient, const FinalFrom& final_from) {
    return Gradient(replica, round, gradient);
  }
  // Of the last gradient, where it is measured (model/problem/gradient_meters.h).
  virtual GradientNoise noise() const { return {}; }
  // Likewise, of each parameter's tensor, in the layout's order, and of the replica at which it was
  // taken (model/problem/objective_wrappers.h); empty where they are not measured.
  virtual std::span<const TensorNorms> norms() const { return {}; }

  // An estimate of the share of a round's gradient's time after which the elements from `from` on
  // are final, 0 .. 1, for modelled times. The same on every machine.
  virtual double ReadyAt(int64_t from, int64_t round) const { return 1; }

  // Samples in one local batch.
  virtual int64_t batch_size() const = 0;

  // Only `living` of the nodes are left from the round `from` on, ascending, this one among them:
  // takes over its part of the data of the others (model/data/split.h). Comes before that round's
  // gradient, with ascending rounds; one that comes for the same round again replaces the last.
  // Nothing where there are no data.
  virtual void DealAgain(int64_t from, std::span<const Rank> living) {}
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_OBJECTIVE_H_
