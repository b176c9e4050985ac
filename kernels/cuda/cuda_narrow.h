// Vectors in fewer bits (kernels/codec/narrow.h) on a GPU: with the same bits as on the CPU,
// one sweep over device memory.
//
// All pointers are device memory. Vectors are read and written 16 bytes at a time where
// they are aligned to 16 bytes and narrow ones to 8, else element by element.
//
// Thread-safety: pure functions over the caller's memory, which must not overlap.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_NARROW_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_NARROW_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/codec/narrow.h"

namespace grapevine {

// Each begins on `stream` what its namesake does.
cudaError_t CudaNarrow(NarrowFloat format, const float* vector, int64_t size, uint16_t* narrow,
                       cudaStream_t stream);
cudaError_t CudaWiden(NarrowFloat format, const uint16_t* narrow, int64_t size, float* vector,
                      cudaStream_t stream);
// `wire` is aligned to 4.
cudaError_t CudaQuantizeInt8(const float* vector, int64_t size, uint64_t key, std::byte* wire,
                             cudaStream_t stream);
cudaError_t CudaDequantizeInt8(const std::byte* wire, int64_t size, float* vector,
                               cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_NARROW_H_
