// The passes over vectors that optimizers and drivers use, wherever the vectors live. This file
// implements them on the CPU, kernels/device on a stream of a device. It also counts the bytes that
// passes read and write: the simulator charges time for them, and a profile divides measured time
// by them.
//
// Pointers refer to memory of the implementation's kind. On the CPU, a pass is over when the call
// returns; on a device, it is queued behind the work that was queued before.
#ifndef GRAPEVINE_KERNELS_VECTOR_VECTOR_PASSES_H_
#define GRAPEVINE_KERNELS_VECTOR_VECTOR_PASSES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "kernels/passes/mix_and_step.h"
#include "kernels/vector/layerwise_step.h"

namespace grapevine {

// One step of a rule, with its numbers. Optimizers are composed of these.
using StepPass =
    std::variant<SgdStep, AdamStep, AdagradStep, Layerwise<LarsStep>, Layerwise<LambStep>>;

class VectorPasses {
 public:
  virtual ~VectorPasses() = default;

  // out <- the sum of `terms`, as in kernels/passes/mix_and_step.h. An empty sum is zero.
  virtual void WeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out) = 0;
  // Mixes and takes a step, as in mix_and_step.h and layerwise_step.h.
  virtual void MixAndStep(std::span<const WeightedVector> mix, const StepPass& step, int64_t size,
                          float* out) = 0;
  // Clips `vector` to the norm `limit`, as in norms.h. `scratch` has ClipScratch elements; the CPU
  // does not use it.
  virtual void ClipNorm(float* vector, int64_t size, double limit, double* scratch) = 0;
};

// Runs passes on the calling thread. Stateless, and therefore thread-safe.
class CpuPasses final : public VectorPasses {
 public:
  void WeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out) override;
  void MixAndStep(std::span<const WeightedVector> mix, const StepPass& step, int64_t size,
                  float* out) override;
  void ClipNorm(float* vector, int64_t size, double limit, double* scratch) override;
};

// Returns the bytes that a sum of `terms` vectors moves: it reads each and writes the result.
inline int64_t CombineTraffic(size_t terms, int64_t elements) {
  return (static_cast<int64_t>(terms) + 1) * elements * static_cast<int64_t>(sizeof(float));
}

// Returns the bytes that clipping moves if the norm exceeds the limit: it reads the vector twice
// and writes it once.
inline int64_t ClipTraffic(int64_t elements) {
  return 3 * elements * static_cast<int64_t>(sizeof(float));
}

// Returns the bytes of a step that mixes `terms` vectors and moves `step_vectors` more
// (Optimizer::step_vectors).
inline int64_t StepTraffic(size_t terms, int step_vectors, int64_t elements) {
  return (static_cast<int64_t>(terms) + step_vectors) * elements *
         static_cast<int64_t>(sizeof(float));
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_VECTOR_PASSES_H_
