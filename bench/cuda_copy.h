// The plainest copy that a GPU kernel can make: the baseline for other passes.
#ifndef GRAPEVINE_BENCH_CUDA_COPY_H_
#define GRAPEVINE_BENCH_CUDA_COPY_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace grapevine {

// Begins to[0, size) <- from[0, size) on `stream`; both are device memory, aligned to 16
// bytes, and `size` is a multiple of 4.
cudaError_t CudaCopy(const float* from, int64_t size, float* to, cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_BENCH_CUDA_COPY_H_
