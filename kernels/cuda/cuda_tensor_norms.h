// Squared norms (kernels/vector/tensor_norms.h) on a GPU: with the same bits as on the CPU, one
// sweep over device memory.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_TENSOR_NORMS_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_TENSOR_NORMS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/vector/tensor_norms.h"

namespace grapevine {

// Bytes of CudaTensorSquaredNorms' workspace in device memory, aligned to 8. `chunks` is the
// tensors' TotalChunks.
constexpr size_t CudaTensorNormsWorkspace(int64_t chunks) {
  return static_cast<size_t>(chunks) * sizeof(double);
}

// Starts computing norms[t], the SquaredNorm of each of the tensors, on `stream`. `tensors` is
// TensorSpans' result and need not outlive the call; the pointers are device memory. Reading is
// fastest where a tensor is aligned to 16 bytes.
cudaError_t CudaTensorSquaredNorms(const float* vector, std::span<const TensorSpan> tensors,
                                   double* norms, void* workspace, cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_TENSOR_NORMS_H_
