// Plain references of the fused passes, for tests.
//
// With T = float they do the same operations in the same order for each element, so that the bits
// must agree. With T = double they give the value that float approximates.
#ifndef GRAPEVINE_KERNELS_PASSES_MIX_AND_STEP_REFERENCE_H_
#define GRAPEVINE_KERNELS_PASSES_MIX_AND_STEP_REFERENCE_H_

#include <cmath>
#include <cstddef>
#include <span>

#include "kernels/passes/mix_and_step.h"

namespace grapevine {

// Returns element i of the sum of `terms`.
template <typename T>
T ReferenceSum(std::span<const WeightedVector> terms, size_t i) {
  if (terms.empty()) return 0;
  T sum = static_cast<T>(terms[0].weight) * terms[0].vector[i];
  for (const WeightedVector& term : terms.subspan(1)) {
    sum += static_cast<T>(term.weight) * term.vector[i];
  }
  return sum;
}

// Returns the new element i of `out` after a step of SGD. `*velocity` holds the old momentum and
// receives the new one.
template <typename T>
T ReferenceMixAndStep(std::span<const WeightedVector> mix, const SgdStep& step, size_t i,
                      T* velocity) {
  T update = static_cast<T>(step.gradient_scale) * step.gradient[i];
  if (step.weight_decay != 0) update += static_cast<T>(step.weight_decay) * step.own[i];
  if (step.momentum != 0) {
    const T beta = step.momentum;
    *velocity = beta * *velocity + update;
    update = step.nesterov ? update + beta * *velocity : *velocity;
  }
  return ReferenceSum<T>(mix, i) - static_cast<T>(step.learning_rate) * update;
}

// Returns the new element i of `out` after a step of Adam. `*mean` and `*square` hold the old
// moments and receive the new ones.
template <typename T>
T ReferenceMixAndStep(std::span<const WeightedVector> mix, const AdamStep& step, size_t i, T* mean,
                      T* square) {
  const AdamCoefficients& adam = step.adam;
  T gradient = static_cast<T>(adam.gradient_scale) * step.gradient[i];
  if (adam.decay == Decay::kGradient) gradient += static_cast<T>(adam.weight_decay) * step.own[i];
  *mean = static_cast<T>(adam.beta1) * *mean + static_cast<T>(adam.gain1) * gradient;
  *square = static_cast<T>(adam.beta2) * *square + static_cast<T>(adam.gain2) * gradient * gradient;
  T update = static_cast<T>(adam.mean_correction) * *mean /
             (static_cast<T>(adam.deviation_correction) * std::sqrt(*square) +
              static_cast<T>(adam.epsilon));
  if (adam.decay == Decay::kUpdate) update += static_cast<T>(adam.weight_decay) * step.own[i];
  return ReferenceSum<T>(mix, i) - static_cast<T>(step.learning_rate) * update;
}

// Returns the new element i of `out` after a step of Adagrad. `*sum` holds the old sum of squares
// and receives the new one.
template <typename T>
T ReferenceMixAndStep(std::span<const WeightedVector> mix, const AdagradStep& step, size_t i,
                      T* sum) {
  T gradient = static_cast<T>(step.gradient_scale) * step.gradient[i];
  if (step.weight_decay != 0) gradient += static_cast<T>(step.weight_decay) * step.own[i];
  *sum += gradient * gradient;
  const T update = gradient / (std::sqrt(*sum) + static_cast<T>(step.epsilon));
  return ReferenceSum<T>(mix, i) - static_cast<T>(step.learning_rate) * update;
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_MIX_AND_STEP_REFERENCE_H_
