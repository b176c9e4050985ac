// The building blocks of message codecs (kernels/codec) on a GPU: vectors in fewer bits, and
// the k entries with the largest magnitudes. The bits are those of the CPU.
//
// All pointers are device memory. A conversion to or from fewer bits takes one sweep. Vectors are
// accessed 16 bytes at a time if they are aligned to 16 bytes, and those of 16-bit elements to 8;
// otherwise element by element.
//
// Thread-safety: pure functions over the caller's memory, which must not overlap.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_CODEC_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_CODEC_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/codec/quantize.h"

namespace grapevine {

// Each function starts the work of its namesake without Cuda on `stream`.
cudaError_t CudaConvertToFloat16(Float16Format format, const float* vector, int64_t size,
                                 uint16_t* halves, cudaStream_t stream);
cudaError_t CudaConvertFromFloat16(Float16Format format, const uint16_t* halves, int64_t size,
                                   float* vector, cudaStream_t stream);
// `wire` is aligned to 4 bytes.
cudaError_t CudaQuantizeInt8(const float* vector, int64_t size, uint64_t key, std::byte* wire,
                             cudaStream_t stream);
cudaError_t CudaDequantizeInt8(const std::byte* wire, int64_t size, float* vector,
                               cudaStream_t stream);

// Returns the bytes of CudaTopK's workspace, device memory aligned to 8 bytes: 1/512 of the vector.
size_t CudaTopKWorkspace(int64_t size);

// Starts the selection on `stream`, in five sweeps over the vector: three rounds of counting, one
// that counts the entries that each chunk will write, and one that writes them.
// cudaErrorInvalidValue unless 0 <= k <= size < 2^32.
cudaError_t CudaTopK(const float* vector, int64_t size, int64_t k, uint32_t* indices, float* values,
                     void* workspace, cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_CODEC_H_
