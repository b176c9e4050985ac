// The passes over vectors that optimizers and drivers use, wherever the vectors live: on the
// CPU here, on a stream of a device in kernels/device. Also the bytes that they read and write,
// for which the simulator charges time, and by which a profile divides measured time.
//
// Pointers are memory of the implementation's kind. On a CPU a pass is over when the
// call returns; on a device it is queued behind what was queued before.
#ifndef GRAPEVINE_KERNELS_VECTOR_VECTOR_PASSES_H_
#define GRAPEVINE_KERNELS_VECTOR_VECTOR_PASSES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "kernels/passes/mix_and_step.h"
#include "kernels/vector/layerwise_step.h"

namespace grapevine {

// What optimizers are put together from: a rule of one of these kinds, with its numbers.
using StepPass =
    std::variant<SgdStep, AdamStep, AdagradStep, Layerwise<LarsStep>, Layerwise<LambStep>>;

class VectorPasses {
 public:
  virtual ~VectorPasses() = default;

  // kernels/passes/mix_and_step.h. No terms give zeros.
  virtual void WeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out) = 0;
  // mix_and_step.h and layerwise_step.h.
  virtual void MixAndStep(std::span<const WeightedVector> mix, const StepPass& step, int64_t size,
                          float* out) = 0;
  // norms.h. `scratch` has ClipScratch elements; it is not read on the CPU.
  virtual void ClipNorm(float* vector, int64_t size, double limit, double* scratch) = 0;
};

// On the calling thread. Stateless: safe from any thread.
class CpuPasses final : public VectorPasses {
 public:
  void WeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out) override;
  void MixAndStep(std::span<const WeightedVector> mix, const StepPass& step, int64_t size,
                  float* out) override;
  void ClipNorm(float* vector, int64_t size, double limit, double* scratch) override;
};

// Bytes of a sum of `terms` vectors: reads each, writes the result.
inline int64_t CombineTraffic(size_t terms, int64_t elements) {
  return (static_cast<int64_t>(terms) + 1) * elements * static_cast<int64_t>(sizeof(float));
}

// Bytes of a clipping that has something to clip: reads the vector twice, writes it.
inline int64_t ClipTraffic(int64_t elements) {
  return 3 * elements * static_cast<int64_t>(sizeof(float));
}

// Bytes of a step that mixes `terms` vectors and moves `step_vectors` besides
// (Optimizer::step_vectors).
inline int64_t StepTraffic(size_t terms, int step_vectors, int64_t elements) {
  return (static_cast<int64_t>(terms) + step_vectors) * elements *
         static_cast<int64_t>(sizeof(float));
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_VECTOR_PASSES_H_
