// The fused pass of decentralized SGD (kernels/passes/mix_and_step.h) on a GPU: with the
// same bits as on a CPU's thread that flushes denormals (kernels/passes/denormals.h; NaN is NaN,
// whichever), one sweep over device memory.
//
// Bytes moved: 4 an element for each mixed vector, the gradient, the result, and
// twice for the momentum.
//
// Thread-safety: pure function over the caller's memory.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_MIX_AND_STEP_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_MIX_AND_STEP_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>

#include "kernels/passes/mix_and_step.h"
#include "kernels/passes/weighted_vector.h"

namespace grapevine {

// Begins the pass on `stream`; `mix` and `step` may be gone when it returns. All
// vectors are device memory; which may be equal is said in mix_and_step.h, and how
// they should be aligned, and how many there may be, in cuda_weighted_sum.h.
cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix, const SgdStep& step, int64_t size,
                           float* out, cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_MIX_AND_STEP_H_
