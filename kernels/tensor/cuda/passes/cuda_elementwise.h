// Element-wise passes over nhwc tensors on a GPU. All pointers are device memory, tensors
// are aligned to 16 bytes.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_ELEMENTWISE_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_ELEMENTWISE_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/tensor/tensor_format.h"

namespace grapevine {

enum class ElementwisePass {
  kAdd,      // out <- a + b
  kAddRelu,  // out <- max(a + b, 0)
  kRelu,     // out <- max(a, 0)
  kMask,     // out <- b where a > 0, else 0: ReLU's gradient, given its output a
};
// `out` may be a or b.
cudaError_t CudaElementwise(ElementwisePass pass, ElementType type, const void* a, const void* b,
                            int64_t size, void* out, cudaStream_t stream);

// y <- y + bias per channel, then ReLU where asked. The bias has the tensor's type.
cudaError_t CudaAddBias(const TensorFormat& format, const void* bias, bool relu, void* y,
                        cudaStream_t stream);

// Subsample (layer.h) and its gradient; both write every element of their output.
cudaError_t CudaSubsample(const TensorFormat& input, const TensorFormat& output, int64_t stride,
                          const void* x, void* y, cudaStream_t stream);
cudaError_t CudaSubsampleGradient(const TensorFormat& input, const TensorFormat& output,
                                  int64_t stride, const void* dy, void* dx, cudaStream_t stream);

// out <- x, rounded to `type`.
cudaError_t CudaRound(const float* x, int64_t size, ElementType type, void* out,
                      cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_ELEMENTWISE_H_
