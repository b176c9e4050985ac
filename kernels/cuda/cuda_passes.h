// The passes over vectors that a stream queues: the weighted sum (kernels/passes/weighted_sum.h),
// the fused passes of decentralized SGD (kernels/passes/mix_and_step.h), Adam and Adagrad
// (kernels/passes/adaptive_step.h) and the sketch (kernels/passes/sketch.h) on a GPU. With the same
// bits as on a CPU's thread that flushes denormals (kernels/passes/denormals.h; NaN is NaN,
// whichever), each in one sweep over device memory.
//
// Bytes moved: 4 an element for each vector that is summed or sketched and for the result; a
// step also reads the gradient, and reads and writes its state.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_PASSES_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_PASSES_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/passes/adaptive_step.h"
#include "kernels/passes/mix_and_step.h"
#include "kernels/passes/weighted_sum.h"

namespace grapevine {

// The kernel's arguments hold this many vectors.
inline constexpr size_t kMaxCudaTerms = 192;

// Starts the sum on `stream`; `terms` need not outlive the call. All vectors are device memory;
// weighted_sum.h says which may be equal. Vectors with the same offset from a boundary of 16
// bytes, such as the same part of several allocations, are read 16 bytes at a time, others 4.
// More than kMaxCudaTerms terms are cudaErrorInvalidValue.
cudaError_t CudaWeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out,
                            cudaStream_t stream);

// Starts the pass on `stream`; `mix` and `step` need not outlive the call. All vectors are
// device memory; mix_and_step.h says which may be equal, CudaWeightedSum how they should be
// aligned and how many there may be.
cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix, const SgdStep& step, int64_t size,
                           float* out, cudaStream_t stream);
cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix, const AdamStep& step, int64_t size,
                           float* out, cudaStream_t stream);
cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix, const AdagradStep& step,
                           int64_t size, float* out, cudaStream_t stream);

// Bytes of CudaSketch's workspace in device memory, aligned to 8: at most 4 MiB.
size_t CudaSketchWorkspace(int64_t size);

// Starts computing the kSketchSize doubles of `sketch` on `stream`. All pointers are device
// memory.
cudaError_t CudaSketch(const float* vector, int64_t size, uint64_t seed, double* sketch,
                       void* workspace, cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_PASSES_H_
