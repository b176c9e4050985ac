// The fused passes of decentralized training: mix vectors and apply a rule's update to the mixture
// in a single sweep over memory, or mix alone.
//
//   out = sum_k w_k v_k - learning_rate * u
//
// where u is the update of one of PyTorch's rules, applied to the mixture of D-PSGD
// (arXiv:1705.09056, Algorithm 1).
//
// SGD (dampening 0):
//
//   d   = gradient_scale * gradient + weight_decay * own
//   m  <- momentum * m + d
//   u   = m, or with Nesterov d + momentum * m
//
// Adam (Kingma and Ba, arXiv:1412.6980, algorithm 1), in step t = 1, 2, ...:
//
//   g   = gradient_scale * gradient (+ weight_decay * own, if it is added to the gradient)
//   m  <- beta1 * m + (1 - beta1) * g
//   v  <- beta2 * v + (1 - beta2) * g^2
//   u   = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon)
//         (+ weight_decay * own, if it is added to the update: AdamW, arXiv:1711.05101,
//         algorithm 2)
//
// Adagrad (Duchi et al., JMLR 12, 2011), with g as above:
//
//   s  <- s + g^2
//   u   = g / (sqrt(s) + epsilon)
//
// Operations happen in exactly this order and without contraction. The terms of each element are
// added in the listed order, as ((w_0 v_0 + w_1 v_1) + w_2 v_2) + .... Every instruction set and
// every GPU thus gives the same bits. All backends share the arithmetic of one element, defined
// here.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_PASSES_MIX_AND_STEP_H_
#define GRAPEVINE_KERNELS_PASSES_MIX_AND_STEP_H_

#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/passes/instruction_set.h"

namespace grapevine {

// A term of the sum, weight * vector. The caller owns the memory.
struct WeightedVector {
  float weight;
  const float* vector;
};

// out <- sum_k weight_k * vector_k: averaging, and every linear combination that an algorithm asks
// its driver for. Each vector and `out` have `size` elements. A term may be `out` itself, but no
// other overlap is allowed. An empty sum is zero.
void WeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out,
                 InstructionSet set = BestInstructionSet());

enum class Momentum { kNone, kHeavyBall, kNesterov };

struct SgdCoefficients {
  float gradient_scale = 1;
  float weight_decay = 0;
  float momentum = 0;
};

// Returns u of one element and updates m, which is `*velocity`. `own` is ignored without weight
// decay; `velocity` is not touched without momentum.
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

// One step of SGD on a mixture. Every vector has the mixture's size.
struct SgdStep {
  // The point at which weight decay is evaluated; not read if weight_decay is 0.
  const float* own = nullptr;
  const float* gradient = nullptr;
  // The momentum buffer m, updated; not touched if momentum is 0.
  float* velocity = nullptr;
  float learning_rate = 0;
  float gradient_scale = 1;
  float weight_decay = 0;
  float momentum = 0;
  bool nesterov = false;
};

// Mixes and takes a step of SGD. `out` may be one of the mixed vectors, `own` or `gradient`, and
// `own` may be one of the mixed vectors; no other overlap is allowed, least of all of `velocity`.
void MixAndStep(std::span<const WeightedVector> mix, const SgdStep& step, int64_t size, float* out,
                InstructionSet set = BestInstructionSet());

// The quantity to which weight decay is added.
enum class Decay { kNone, kGradient, kUpdate };

// The numbers of one step of Adam that are not vectors. Corrections and complements are computed
// once, in double precision.
struct AdamCoefficients {
  float gradient_scale = 1;
  Decay decay = Decay::kNone;
  float weight_decay = 0;  // not read with Decay::kNone
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float gain1 = 0.1f;              // 1 - beta1
  float gain2 = 0.001f;            // 1 - beta2
  float mean_correction = 1;       // 1 / (1 - beta1^t)
  float deviation_correction = 1;  // 1 / sqrt(1 - beta2^t)
  float epsilon = 1e-8f;
};

// Returns the coefficients of step `step`, counted from 0.
inline AdamCoefficients AdamCoefficientsAt(int64_t step, double beta1, double beta2,
                                           double epsilon) {
  const auto t = static_cast<double>(step + 1);
  return {.beta1 = static_cast<float>(beta1),
          .beta2 = static_cast<float>(beta2),
          .gain1 = static_cast<float>(1 - beta1),
          .gain2 = static_cast<float>(1 - beta2),
          .mean_correction = static_cast<float>(1 / (1 - std::pow(beta1, t))),
          .deviation_correction = static_cast<float>(1 / std::sqrt(1 - std::pow(beta2, t))),
          .epsilon = static_cast<float>(epsilon)};
}

// Updates m and v of one element, `*mean` and `*square`. `own` is ignored unless weight decay is
// added to the gradient.
template <Decay kDecay>
GRAPEVINE_ELEMENTWISE void AdamMoments(const AdamCoefficients& adam, float gradient, float own,
                                       float* mean, float* square) {
  float g = adam.gradient_scale * gradient;
  if constexpr (kDecay == Decay::kGradient) g += adam.weight_decay * own;
  *mean = adam.beta1 * *mean + adam.gain1 * g;
  *square = adam.beta2 * *square + adam.gain2 * g * g;
}

// Returns u of one element. `own` is ignored unless weight decay is added to the update.
template <Decay kDecay>
GRAPEVINE_ELEMENTWISE float AdamUpdate(const AdamCoefficients& adam, float mean, float square,
                                       float own) {
  float update =
      adam.mean_correction * mean / (adam.deviation_correction * std::sqrt(square) + adam.epsilon);
  if constexpr (kDecay == Decay::kUpdate) update += adam.weight_decay * own;
  return update;
}

// One step of Adam on a mixture. Every vector has the mixture's size.
struct AdamStep {
  // The point at which weight decay is evaluated; not read with Decay::kNone.
  const float* own = nullptr;
  const float* gradient = nullptr;
  float* mean = nullptr;    // m, updated
  float* square = nullptr;  // v, updated
  AdamCoefficients adam;
  float learning_rate = 0;
};

struct AdagradStep {
  // The point at which weight decay is evaluated; not read if weight_decay is 0.
  const float* own = nullptr;
  const float* gradient = nullptr;
  float* sum = nullptr;  // s, updated
  float learning_rate = 0;
  float gradient_scale = 1;
  float weight_decay = 0;
  float epsilon = 1e-10f;
};

// Returns u of one element and updates s, which is `*sum`.
template <bool kDecay>
GRAPEVINE_ELEMENTWISE float AdagradUpdate(const AdagradStep& step, float gradient, float own,
                                          float* sum) {
  float g = step.gradient_scale * gradient;
  if constexpr (kDecay) g += step.weight_decay * own;
  *sum += g * g;
  return g / (std::sqrt(*sum) + step.epsilon);
}

// Mix and take a step of Adam or Adagrad. `out` may be one of the mixed vectors, `own` or
// `gradient`, and `own` may be one of the mixed vectors; no other overlap is allowed, least of all
// of the rule's state (m, v or s).
void MixAndStep(std::span<const WeightedVector> mix, const AdamStep& step, int64_t size, float* out,
                InstructionSet set = BestInstructionSet());
void MixAndStep(std::span<const WeightedVector> mix, const AdagradStep& step, int64_t size,
                float* out, InstructionSet set = BestInstructionSet());

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_MIX_AND_STEP_H_
