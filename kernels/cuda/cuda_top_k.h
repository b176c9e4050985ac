// The k largest entries of a vector (kernels/codec/top_k.h) on a GPU: the same selection as on
// the CPU. Five sweeps over the vector: three rounds of counting, one that counts what
// each chunk will write, one that writes.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_TOP_K_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_TOP_K_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace grapevine {

// Bytes of device memory, aligned to 8, that CudaTopK works in: 1/512 of the vector.
size_t CudaTopKWorkspace(int64_t size);

// Begins the selection on `stream`; all pointers are device memory.
// cudaErrorInvalidValue unless 0 <= k <= size < 2^32.
cudaError_t CudaTopK(const float* vector, int64_t size, int64_t k, uint32_t* indices, float* values,
                     void* workspace, cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_TOP_K_H_
