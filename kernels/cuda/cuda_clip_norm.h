// Clipping by norm (kernels/vector/clip_norm.h) on a GPU, with the CPU's bits: the norm stays in
// device memory, so that nothing waits for it.
//
// Thread-safety: a pure function over the caller's memory.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_CLIP_NORM_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_CLIP_NORM_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace grapevine {

// Starts the passes on `stream`. `scratch` has ClipScratch doubles; both are device memory.
cudaError_t CudaClipNorm(float* vector, int64_t size, double limit, double* scratch,
                         cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_CLIP_NORM_H_
