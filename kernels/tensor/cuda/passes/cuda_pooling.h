// Pooling of nhwc tensors on a GPU.
//
// Our own rather than cuDNN's, which compiles its engines at run time and does not say
// where the gradient of equal largest values goes (README.md); here the first one gets it,
// as on the CPU, and padding does not count in an average. Backward gathers, so that it is
// the same in every run.
//
// All pointers are device memory.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_POOLING_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_POOLING_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/tensor/layer.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

struct PoolingWindows {
  TensorFormat input;
  TensorFormat output;
  Pooling::Kind kind = Pooling::Kind::kMax;
  int64_t kernel_h = 1;
  int64_t kernel_w = 1;
  int64_t stride = 1;
  int64_t padding = 0;
};

// For a maximum, `largest` takes where in its window each one was: an element per output.
// Windows have at most 65536 positions.
cudaError_t CudaPool(const PoolingWindows& windows, const void* x, void* y, uint16_t* largest,
                     cudaStream_t stream);
cudaError_t CudaPoolGradient(const PoolingWindows& windows, const void* dy, const uint16_t* largest,
                             void* dx, cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_POOLING_H_
