// Squared norms (kernels/vector/tensor_norms.h) on a GPU: with the same bits as on the CPU, one
// sweep over device memory.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_TENSOR_NORMS_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_TENSOR_NORMS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/vector/tensor_norms.h"

namespace grapevine {

// Bytes of CudaTensorSquaredNorms' workspace in device memory, aligned to 8. `chunks` is the
// tensors' TotalChunks.
constexpr size_t CudaTensorNormsWorkspace(int64_t chunks) {
  return static_cast<size_t>(chunks) * sizeof(double);
}

// Starts computing norms[t] for each of the `count` tensors on `stream`, in two launches. All
// pointers are device memory, `tensors` a copy of TensorSpans' result; reading is fastest if
// `vector` is aligned to 16 bytes.
cudaError_t CudaTensorSquaredNorms(const float* vector, const TensorSpan* tensors, int count,
                                   int64_t chunks, double* norms, void* workspace,
                                   cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_TENSOR_NORMS_H_
