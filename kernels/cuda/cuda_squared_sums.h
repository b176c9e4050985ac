// Squared norms (kernels/vector/tensor_norms.h) and the squared distance
// (kernels/passes/ordered_sum.h) on a GPU: with the same bits as on the CPU, one sweep over device
// memory.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_SQUARED_SUMS_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_SQUARED_SUMS_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/vector/tensor_norms.h"

namespace grapevine {

// Bytes of device memory, aligned to 8, that CudaTensorSquaredNorms works in.
// `chunks` are the TotalChunks of the tensors.
constexpr size_t CudaTensorNormsWorkspace(int64_t chunks) {
  return static_cast<size_t>(chunks) * sizeof(double);
}

// Begins to compute norms[t] for each of the `count` tensors on `stream`: two launches,
// however many there are. All pointers are device memory, `tensors` a copy of what
// TensorSpans gave; reading is fastest where `vector` is aligned to 16 bytes.
cudaError_t CudaTensorSquaredNorms(const float* vector, const TensorSpan* tensors, int count,
                                   int64_t chunks, double* norms, void* workspace,
                                   cudaStream_t stream);

// Bytes of device memory, aligned to 8, that CudaSquaredDistance works in.
size_t CudaSquaredDistanceWorkspace(int64_t size);

// Begins to compute *distance on `stream`. All pointers are device memory; reading is
// fastest where `a` and `b` are aligned to 16 bytes.
cudaError_t CudaSquaredDistance(const float* a, const float* b, int64_t size, double* distance,
                                void* workspace, cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_SQUARED_SUMS_H_
