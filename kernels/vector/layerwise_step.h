// The passes of rules that give each tensor a rate of its own, from its norms: LARS and LAMB,
// applied to a mixture as in kernels/passes/mix_and_step.h. A pass sweeps over a tensor twice:
// the first sweep reads the vectors whose norms are needed, the second takes the step.
//
// LARS (You, Gitman and Ginsburg, arXiv:1708.03888, algorithm 1), for each tensor:
//
//   ratio = trust |own| / (|g| + weight_decay |own| + epsilon), g = gradient_scale * gradient
//   m    <- momentum * m + learning_rate * ratio * (g + weight_decay * own)
//   out   = sum_k w_k v_k - m
//
// or, corrected for a learning rate that changes (Goyal et al., arXiv:1706.02677, remark 2):
//
//   m    <- momentum * m + ratio * (g + weight_decay * own)
//   out   = sum_k w_k v_k - learning_rate * m
//
// LAMB (You et al., arXiv:1904.00962, algorithm 2), where u is the update of AdamW
// (mix_and_step.h):
//
//   out   = sum_k w_k v_k - learning_rate * |own| / |u| * u
//
// A ratio is 1 if either norm is 0. The tensors of one dimension, which are biases and the
// parameters of normalizations, have ratio 1 and no weight decay.
//
// Norms are sums in the order of ordered_sum.h, from the tensor's first element on: the bits do not
// depend on where the tensor lies, on the instruction set or on the device.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_VECTOR_LAYERWISE_STEP_H_
#define GRAPEVINE_KERNELS_VECTOR_LAYERWISE_STEP_H_

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/passes/instruction_set.h"
#include "kernels/passes/mix_and_step.h"
#include "kernels/vector/norms.h"
#include "kernels/vector/replica_layout.h"

namespace grapevine {

// The parameters of a layout: those with a ratio of their own, and the others.
struct LayerwiseTensors {
  std::vector<TensorSpan> adapted;
  std::vector<TensorSpan> plain;
};

// Returns whether a tensor has a ratio of its own.
inline bool IsAdapted(const TensorView& parameter) { return parameter.shape.size() > 1; }
LayerwiseTensors LayerwiseTensorsOf(const ReplicaLayout& layout);

// Returns the size, in floats, of the scratch memory in which a device keeps norms: 3 doubles for
// each adapted tensor, and one for each of their chunks. The memory is aligned to 8 bytes.
int64_t LayerwiseScratch(const LayerwiseTensors& tensors);

// The numbers of a step of LARS that are not vectors.
struct LarsRates {
  double learning_rate = 0;
  double gradient_scale = 1;
  double weight_decay = 0;
  double trust = 0.001;
  double epsilon = 1e-9;
};

// The factors by which a tensor's gradient and its own weights enter m.
struct LarsFactors {
  float gradient;
  float own;
};

GRAPEVINE_ELEMENTWISE LarsFactors FactorsOf(const LarsRates& rates, double ratio) {
  const double rate = rates.learning_rate * ratio;
  return {static_cast<float>(rate * rates.gradient_scale),
          static_cast<float>(rate * rates.weight_decay)};
}

// Returns a tensor's factors from the squared norms of own and of the gradient, the latter before
// gradient_scale is applied.
GRAPEVINE_ELEMENTWISE LarsFactors LarsFactorsOf(const LarsRates& rates, double own_squared,
                                                double gradient_squared) {
  const double own = std::sqrt(own_squared);
  const double gradient = std::abs(rates.gradient_scale) * std::sqrt(gradient_squared);
  if (own == 0 || gradient == 0) return FactorsOf(rates, 1);
  return FactorsOf(rates,
                   rates.trust * own / (gradient + rates.weight_decay * own + rates.epsilon));
}

// Returns a tensor's rate in LAMB from the squared norms of own and of u.
GRAPEVINE_ELEMENTWISE float LambRate(double learning_rate, double own_squared,
                                     double update_squared) {
  if (own_squared == 0 || update_squared == 0) return static_cast<float>(learning_rate);
  return static_cast<float>(learning_rate * std::sqrt(own_squared) / std::sqrt(update_squared));
}

struct LarsStep {
  const float* own = nullptr;
  const float* gradient = nullptr;
  float* velocity = nullptr;  // m, updated; not touched if momentum is 0
  float momentum = 0;
  LarsRates rates;
  // The factor of m in `out`: 1, or the learning rate; in the latter case rates.learning_rate is 1.
  float applied = 1;
};

struct LambStep {
  const float* own = nullptr;
  const float* gradient = nullptr;
  float* mean = nullptr;    // m, updated
  float* square = nullptr;  // v, updated
  AdamCoefficients adam;    // with the decay added to the update
  double learning_rate = 0;
};

// A LarsStep or LambStep over all tensors of a replica, or of a range of it.
template <typename Step>
struct Layerwise {
  Step step;
  LayerwiseTensors tensors;
  float* scratch = nullptr;  // LayerwiseScratch elements; not read on the CPU
};

// Mix and take a step of LARS or LAMB. The tensors have `size` elements together. `out` may be one
// of the mixed vectors, `own` or `gradient`, and `own` may be one of the mixed vectors; no other
// overlap is allowed.
void MixAndStep(std::span<const WeightedVector> mix, const Layerwise<LarsStep>& layerwise,
                int64_t size, float* out, InstructionSet set = BestInstructionSet());
void MixAndStep(std::span<const WeightedVector> mix, const Layerwise<LambStep>& layerwise,
                int64_t size, float* out, InstructionSet set = BestInstructionSet());

// How both backends break a step into the steps of single tensors. From moves the vectors to the
// tensor's first element, at `offset`. WithFactors applies a tensor's factors. Plain returns the
// step of a tensor that has no ratio of its own.
std::vector<WeightedVector> From(std::span<const WeightedVector> mix, int64_t offset);
LarsStep From(const LarsStep& step, int64_t offset);
LambStep From(const LambStep& step, int64_t offset);
SgdStep WithFactors(const LarsStep& step, const LarsFactors& factors);
SgdStep Plain(const LarsStep& step);
AdamStep Plain(const LambStep& step);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_LAYERWISE_STEP_H_
