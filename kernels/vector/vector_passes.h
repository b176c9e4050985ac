// The passes over vectors that optimizers and drivers are made of, wherever the
// vectors live: on the CPU here, on a stream of a device in kernels/device.
//
// Pointers are memory of the implementation's kind. On a CPU a pass is over when the
// call returns; on a device it is queued behind what was queued before.
#ifndef GRAPEVINE_KERNELS_VECTOR_VECTOR_PASSES_H_
#define GRAPEVINE_KERNELS_VECTOR_VECTOR_PASSES_H_

#include <cstdint>
#include <span>

#include "kernels/passes/mix_and_step.h"
#include "kernels/passes/weighted_vector.h"

namespace grapevine {

class VectorPasses {
 public:
  virtual ~VectorPasses() = default;

  // kernels/passes/weighted_sum.h. No terms give zeros.
  virtual void WeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out) = 0;
  // kernels/passes/mix_and_step.h.
  virtual void MixAndStep(std::span<const WeightedVector> mix, const SgdStep& step, int64_t size,
                          float* out) = 0;
};

// On the thread that calls it. Has no state: safe from any thread.
class CpuPasses final : public VectorPasses {
 public:
  void WeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out) override;
  void MixAndStep(std::span<const WeightedVector> mix, const SgdStep& step, int64_t size,
                  float* out) override;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_VECTOR_PASSES_H_
