// LARS and LAMB (kernels/vector/layerwise_step.h) on a GPU, with the CPU's bits: the norms stay in
// device memory, so that nothing waits for them.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_LAYERWISE_STEP_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_LAYERWISE_STEP_H_

#include <cuda_runtime_api.h>

#include <span>

#include "kernels/passes/weighted_sum.h"
#include "kernels/vector/layerwise_step.h"

namespace grapevine {

// Starts the passes on `stream`; no argument need outlive the call. All vectors are device memory,
// and so is the scratch memory. CudaWeightedSum says how vectors should be aligned and how many
// there may be.
cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix,
                           const Layerwise<LarsStep>& layerwise, int64_t size, float* out,
                           cudaStream_t stream);
cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix,
                           const Layerwise<LambStep>& layerwise, int64_t size, float* out,
                           cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_LAYERWISE_STEP_H_
