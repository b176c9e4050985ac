// How long a node's gradient takes in simulated time.
#ifndef GRAPEVINE_SIM_COMPUTE_TIME_H_
#define GRAPEVINE_SIM_COMPUTE_TIME_H_

#include "sim/nanoseconds.h"
#include "topology/topology.h"

namespace grapevine {

// Immutable: a pure function, so that times do not depend on the order of events.
class ComputeTime {
 public:
  virtual ~ComputeTime() = default;
  virtual Nanoseconds Gradient(Rank rank, Round round) const = 0;
};

// The same for every node and round.
class FixedComputeTime final : public ComputeTime {
 public:
  explicit FixedComputeTime(Nanoseconds gradient) : gradient_(gradient) {}
  Nanoseconds Gradient(Rank, Round) const override { return gradient_; }

 private:
  const Nanoseconds gradient_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_COMPUTE_TIME_H_
