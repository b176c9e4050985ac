// The passes over vectors that a stream queues on a GPU: the weighted sum and the fused passes of
// decentralized SGD, Adam and Adagrad (kernels/passes/mix_and_step.h), LARS and LAMB
// (kernels/vector/layerwise_step.h), norms and clipping by them (kernels/vector/norms.h) and the
// sketch (kernels/passes/sketch.h). The bits are those of a CPU thread that flushes denormals
// (kernels/passes/denormals.h); only the bits of a NaN may differ.
//
// Each pass is one sweep over device memory. A pass that needs a norm computes it in a sweep before
// and leaves it in device memory, so that nothing waits for it. A sweep moves 4 bytes an element
// for each vector that is summed or looked at and for the result; a step also reads the gradient,
// and reads and writes its state.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_PASSES_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_PASSES_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/passes/mix_and_step.h"
#include "kernels/vector/layerwise_step.h"
#include "kernels/vector/norms.h"

namespace grapevine {

// The largest number of vectors that a kernel's arguments hold.
inline constexpr size_t kMaxCudaTerms = 192;

// Starts the sum on `stream`; `terms` need not outlive the call. All vectors are device memory;
// WeightedSum says which may be equal. Vectors are read 16 bytes at a time if all have the same
// offset from a boundary of 16 bytes, such as the same part of several allocations, and otherwise
// 4 bytes at a time. cudaErrorInvalidValue for more than kMaxCudaTerms terms.
cudaError_t CudaWeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out,
                            cudaStream_t stream);

// Starts the pass on `stream`; `mix` and `step` need not outlive the call. All vectors are
// device memory. MixAndStep says which of them may be equal, CudaWeightedSum how they should be
// aligned and how many are allowed.
cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix, const SgdStep& step, int64_t size,
                           float* out, cudaStream_t stream);
cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix, const AdamStep& step, int64_t size,
                           float* out, cudaStream_t stream);
cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix, const AdagradStep& step,
                           int64_t size, float* out, cudaStream_t stream);

// Starts a pass of LARS or LAMB on `stream`, under the conditions of the passes above. The scratch
// memory is device memory too.
cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix,
                           const Layerwise<LarsStep>& layerwise, int64_t size, float* out,
                           cudaStream_t stream);
cudaError_t CudaMixAndStep(std::span<const WeightedVector> mix,
                           const Layerwise<LambStep>& layerwise, int64_t size, float* out,
                           cudaStream_t stream);

// Returns the bytes of CudaSketch's workspace, device memory aligned to 8 bytes: at most 4 MiB.
size_t CudaSketchWorkspace(int64_t size);

// Starts the computation of the kSketchSize doubles of `sketch` on `stream`. All pointers are
// device memory.
cudaError_t CudaSketch(const float* vector, int64_t size, uint64_t seed, double* sketch,
                       void* workspace, cudaStream_t stream);

// Returns the bytes of CudaTensorSquaredNorms' workspace, device memory aligned to 8 bytes.
// `chunks` is the tensors' TotalChunks.
constexpr size_t CudaTensorNormsWorkspace(int64_t chunks) {
  return static_cast<size_t>(chunks) * sizeof(double);
}

// Starts the computation of norms[t], the SquaredNorm of tensor t, on `stream`. `tensors` is a
// result of TensorSpans and need not outlive the call; the pointers are device memory. Tensors that
// are aligned to 16 bytes are read fastest.
cudaError_t CudaTensorSquaredNorms(const float* vector, std::span<const TensorSpan> tensors,
                                   double* norms, void* workspace, cudaStream_t stream);

// Starts clipping `vector` to the norm `limit` on `stream`. `scratch` has ClipScratch doubles;
// vector and scratch are device memory.
cudaError_t CudaClipNorm(float* vector, int64_t size, double limit, double* scratch,
                         cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_PASSES_H_
