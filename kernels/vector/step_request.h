// A fused mix and local step, as it is asked for: an algorithm fills it in, the driver and
// its data path pass it on, and an optimizer resolves it (optim/optimizer.h).
#ifndef GRAPEVINE_KERNELS_VECTOR_STEP_REQUEST_H_
#define GRAPEVINE_KERNELS_VECTOR_STEP_REQUEST_H_

#include <span>

#include "kernels/vector/vector_handle.h"

namespace grapevine {

// out <- sum(mix) - learning_rate * update(own, gradient_scale * gradient, state).
//
// All vectors hold `range` of a replica, no more and no less, but `state`, which was made
// for it. `out` may be `own`, a term or the gradient.
struct StepRequest {
  ReplicaRange range;
  Vec out;
  // Summed in this order; the caller's memory.
  std::span<const Term> mix;
  // The point at which weight decay is evaluated: the node's own replica.
  Vec own;
  Vec gradient;
  Vec state;
  double learning_rate = 0;
  // Multiplies the gradient first, parameters and buffers alike (1/n after a sum over n
  // nodes).
  double gradient_scale = 1;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_STEP_REQUEST_H_
