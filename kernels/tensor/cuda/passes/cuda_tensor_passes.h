// The passes of our own over nhwc tensors on a GPU that are not batch normalization: element by
// element, pooling, softmax cross-entropy, and weights on their way to and from the replica.
//
// Pooling is our own rather than cuDNN's, which compiles its engines at run time and does not
// document where the gradient of ties goes (README.md); here the first maximum gets it, as on
// the CPU, and padding does not count in an average. Backward gathers, so that it has the same
// bits in every run.
//
// Weights are fp32 in PyTorch's order (out, in, kh, kw) in the replica, and in the type of their
// tensors and in cuDNN's order (out, kh, kw, in) in a layer.
//
// All pointers are device memory, tensors are aligned to 16 bytes.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_TENSOR_PASSES_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_TENSOR_PASSES_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/tensor/cuda/passes/loss_scaled.h"
#include "kernels/tensor/layer.h"
#include "kernels/tensor/softmax_cross_entropy.h"
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

// y <- y + bias per channel, then ReLU if requested. The bias has the tensor's type.
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

struct PoolingWindows {
  TensorFormat input;
  TensorFormat output;
  Pooling::Kind kind = Pooling::Kind::kMax;
  int64_t kernel_h = 1;
  int64_t kernel_w = 1;
  int64_t stride = 1;
  int64_t padding = 0;
};

// For max pooling, `largest` receives the position of each maximum in its window: an element
// per output. Windows have at most 65536 positions.
cudaError_t CudaPool(const PoolingWindows& windows, const void* x, void* y, uint16_t* largest,
                     cudaStream_t stream);
cudaError_t CudaPoolGradient(const PoolingWindows& windows, const void* dy, const uint16_t* largest,
                             void* dx, cudaStream_t stream);

struct CudaLossSums {
  double loss = 0;
  int64_t correct = 0;
};

struct CudaLossCall {
  CrossEntropy loss;
  ElementType type = ElementType::kFloat32;  // of logits and gradient
  int64_t rows = 0;
  const void* logits = nullptr;
  const int32_t* labels = nullptr;
  float gradient_scale = 1;          // times the gradient of the loss's sum
  void* gradient = nullptr;          // null: none
  CudaLossSums* row_sums = nullptr;  // one per row
  CudaLossSums* sums = nullptr;      // over the rows, in their order
};

// All pointers are device memory.
cudaError_t CudaSoftmaxCrossEntropy(const CudaLossCall& call, cudaStream_t stream);

// `shape` is (out, in, kh, kw); `packed` has the elements' type `type`.
cudaError_t PackWeights(const TensorShape& shape, const float* weights, ElementType type,
                        void* packed, cudaStream_t stream);
// The inverse, for a gradient.
cudaError_t UnpackGradient(const TensorShape& shape, ElementType type, const void* packed,
                           const LossScaled& scaled, float* gradient, cudaStream_t stream);

// Where *overflow is not 0: the parameters' gradient becomes zero, and the statistics
// behind it the replica's own running ones, so that a step leaves both as they are.
cudaError_t DropOnOverflow(const int* overflow, const float* replica, int64_t parameter_size,
                           int64_t size, float* gradient, cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_TENSOR_PASSES_H_
