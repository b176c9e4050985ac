// The arithmetic of one element of momentum SGD, for every backend.
//
//   d = gradient_scale * gradient + weight_decay * own
//   m <- momentum * m + d
//   u = m, or with Nesterov d + momentum * m
//
// Operations happen in exactly this order and without contraction, so that CPUs
// and GPUs give the same bits.
#ifndef GRAPEVINE_KERNELS_PASSES_SGD_UPDATE_H_
#define GRAPEVINE_KERNELS_PASSES_SGD_UPDATE_H_

#include "kernels/passes/elementwise_function.h"

namespace grapevine {

enum class Momentum { kNone, kHeavyBall, kNesterov };

struct SgdCoefficients {
  float gradient_scale = 1;
  float weight_decay = 0;
  float momentum = 0;
};

// u. `own` means nothing without decay; `velocity`, m, is not touched without momentum.
template <Momentum kMomentum, bool kDecay>
GRAPEVINE_ELEMENTWISE float SgdUpdate(const SgdCoefficients& sgd, float gradient, float own,
                                      float* velocity) {
  float update = sgd.gradient_scale * gradient;
  if constexpr (kDecay) update += sgd.weight_decay * own;
  if constexpr (kMomentum != Momentum::kNone) {
    const float moved = sgd.momentum * *velocity + update;
    *velocity = moved;
    update = kMomentum == Momentum::kNesterov ? update + sgd.momentum * moved : moved;
  }
  return update;
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_SGD_UPDATE_H_
