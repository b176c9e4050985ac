// The sum of vectors (kernels/passes/weighted_sum.h) on a GPU: with the same bits as on a CPU's
// thread that flushes denormals (kernels/passes/denormals.h; NaN is NaN, whichever), one sweep
// over device memory.
//
// Thread-safety: pure function over the caller's memory.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_WEIGHTED_SUM_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_WEIGHTED_SUM_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/passes/weighted_vector.h"

namespace grapevine {

// The kernel's arguments hold so many vectors.
inline constexpr size_t kMaxCudaTerms = 192;

// Begins the sum on `stream`; `terms` may be gone when it returns. All vectors are
// device memory; which may be equal is said in weighted_sum.h. Vectors that begin
// equally far past a boundary of 16 bytes, such as the same part of several
// allocations, are read 16 bytes at a time, others 4. More than kMaxCudaTerms terms
// are cudaErrorInvalidValue.
cudaError_t CudaWeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out,
                            cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_WEIGHTED_SUM_H_
