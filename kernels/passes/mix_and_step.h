// The fused pass of decentralized SGD: mixes vectors and applies the gradient to the mixture in
// a single sweep over memory.
//
//   d   = gradient_scale * gradient + weight_decay * own
//   m  <- momentum * m + d
//   u   = m, or with Nesterov d + momentum * m
//   out = sum_k w_k v_k - learning_rate * u
//
// which is PyTorch's SGD (dampening 0) applied to the mixture of D-PSGD
// (arXiv:1705.09056, Algorithm 1). Operations happen in exactly this order and without
// contraction, sums as in weighted_sum.h, so that every instruction set and every GPU gives the
// same bits. The arithmetic of one element is here for every backend.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_PASSES_MIX_AND_STEP_H_
#define GRAPEVINE_KERNELS_PASSES_MIX_AND_STEP_H_

#include <cstdint>
#include <span>

#include "kernels/passes/instruction_set.h"
#include "kernels/passes/weighted_sum.h"

namespace grapevine {

enum class Momentum { kNone, kHeavyBall, kNesterov };

struct SgdCoefficients {
  float gradient_scale = 1;
  float weight_decay = 0;
  float momentum = 0;
};

// u of one element. `own` is ignored without weight decay; `velocity`, m, is not touched
// without momentum.
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

// One step's update of a mixture; every vector has the mixture's size.
struct SgdStep {
  // Where weight decay is evaluated; not read when weight_decay is 0.
  const float* own = nullptr;
  const float* gradient = nullptr;
  // The momentum buffer m, updated; not touched when momentum is 0.
  float* velocity = nullptr;
  float learning_rate = 0;
  float gradient_scale = 1;
  float weight_decay = 0;
  float momentum = 0;
  bool nesterov = false;
};

// `out` may be one of the mixed vectors, `own` or `gradient`, and `own` one of
// the mixed vectors; no other overlap is allowed, least of all of `velocity`.
void MixAndStep(std::span<const WeightedVector> mix, const SgdStep& step, int64_t size, float* out,
                InstructionSet set = BestInstructionSet());

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_MIX_AND_STEP_H_
