// Our own passes over nhwc tensors on a GPU: element-wise passes, pooling, softmax cross-entropy,
// weights on their way to and from the replica, and batch normalization, fused with its neighbours.
//
// Pooling is our own rather than cuDNN's, which compiles its engines at run time and does not
// document where the gradient of ties goes (README.md). Here the first maximum gets it, as on the
// CPU, and padding does not count in an average. The backward pass gathers, so that it has the same
// bits in every run.
//
// Weights are fp32 in PyTorch's order (out, in, kh, kw) in the replica. In a layer, they have the
// type of its tensors and cuDNN's order (out, kh, kw, in).
//
// Batch normalization is our own because cuDNN's has no engine for Turing nor for every number of
// channels (README.md). A residual network's normalization is bound by memory, so each tensor is
// walked once for all adjacent operations: the shortcut, the ReLU (whose mask is read off the
// output), the sum of two consumers' gradients, and the unbiased variance that the replica's
// buffers need. These passes are the same from Turing to Blackwell in fp32, bf16 and fp16. A thread
// computes statistics in fp32 by Welford's method; they are joined as Chan, Golub and LeVeque
// (1979) do, in double at the end. The order is fixed, so that every run gives the same bits.
//
// All pointers are device memory. Tensors are aligned to 16 bytes.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_TENSOR_PASSES_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_TENSOR_PASSES_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/tensor/layer.h"
#include "kernels/tensor/softmax_cross_entropy.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

// The way in which elements of the replica's gradient are written if the loss was scaled.
struct LossScaled {
  float inverse = 1;  // 1 / the loss's scale
  // Device memory that is set to 1 if an element is not finite; null if this is not needed.
  int* overflow = nullptr;
};

enum class ElementwisePass {
  kAdd,      // out <- a + b
  kAddRelu,  // out <- max(a + b, 0)
  kRelu,     // out <- max(a, 0)
  kMask,     // out <- b where a > 0, else 0: the gradient of a ReLU, given its output a
};
// Runs a pass over `size` elements. `out` may be a or b.
cudaError_t CudaElementwise(ElementwisePass pass, ElementType type, const void* a, const void* b,
                            int64_t size, void* out, cudaStream_t stream);

// y <- y + bias per channel, then ReLU if `relu`. The bias has the tensor's type.
cudaError_t CudaAddBias(const TensorFormat& format, const void* bias, bool relu, void* y,
                        cudaStream_t stream);

// Compute Subsample (layer.h) and its gradient. Both write every element of their output.
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

// Pool, and compute the gradient of pooling. For max pooling, `largest` has an element per output:
// the position of the maximum in its window. Windows have at most 65536 positions.
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
  ElementType type = ElementType::kFloat32;  // the type of logits and gradient
  int64_t rows = 0;
  const void* logits = nullptr;
  const int32_t* labels = nullptr;
  float gradient_scale = 1;          // the factor of the gradient of the summed loss
  void* gradient = nullptr;          // null if no gradient is wanted
  CudaLossSums* row_sums = nullptr;  // receives one element per row
  CudaLossSums* sums = nullptr;      // receives the sums over the rows, added in a fixed order
};

// Computes the loss and, unless null, the gradient. All pointers are device memory.
cudaError_t CudaSoftmaxCrossEntropy(const CudaLossCall& call, cudaStream_t stream);

// Copies weights of the replica to `packed`, in the order of a layer and with elements of `type`.
// `shape` is (out, in, kh, kw).
cudaError_t PackWeights(const TensorShape& shape, const float* weights, ElementType type,
                        void* packed, cudaStream_t stream);
// Copies a packed gradient of the weights to the replica's gradient: the inverse of PackWeights.
cudaError_t UnpackGradient(const TensorShape& shape, ElementType type, const void* packed,
                           const LossScaled& scaled, float* gradient, cudaStream_t stream);

// If *overflow is not 0, sets the parameters' gradient to zero, and the statistics after it to the
// replica's own running statistics, so that a step leaves both as they are.
cudaError_t DropOnOverflow(const int* overflow, const float* replica, int64_t parameter_size,
                           int64_t size, float* gradient, cudaStream_t stream);

// A tensor as a matrix: a row per position of a sample, a column per channel.
struct ChannelMatrix {
  ElementType type = ElementType::kFloat32;
  int64_t rows = 0;
  int64_t channels = 0;
};

// Returns the bytes of `partial`, which the passes with sums write.
int64_t PartialSumBytes(const ChannelMatrix& matrix);

// The normalization of a channel: y = x * scale + shift. Each array has a value per channel.
struct ChannelCoefficients {
  float* mean = nullptr;
  float* inverse_deviation = nullptr;
  float* scale = nullptr;
  float* shift = nullptr;
};
struct ChannelParameters {
  const float* weight = nullptr;
  const float* bias = nullptr;
  float epsilon = 0;
};

// Computes the coefficients from a batch. Also writes the batch's mean and its unbiased variance
// (the biased variance for a single value).
cudaError_t BatchCoefficients(const ChannelMatrix& matrix, const void* x,
                              const ChannelParameters& parameters,
                              const ChannelCoefficients& coefficients, float* batch_mean,
                              float* batch_variance, float* partial, cudaStream_t stream);
// Computes the coefficients from running statistics.
cudaError_t RunningCoefficients(int64_t channels, const float* running_mean,
                                const float* running_variance, const ChannelParameters& parameters,
                                const ChannelCoefficients& coefficients, cudaStream_t stream);

// y = x * scale + shift, + shortcut unless it is null, then ReLU if requested.
struct CudaNormalizePass {
  const void* x = nullptr;
  const void* shortcut = nullptr;
  void* y = nullptr;
  bool relu = false;
};
cudaError_t CudaNormalize(const ChannelMatrix& matrix, const CudaNormalizePass& pass,
                          const ChannelCoefficients& coefficients, cudaStream_t stream);

// g, the gradient of the ReLU's input, is dy (+ dy2), and zero where y <= 0. It is written into dy.
struct CudaGradientPass {
  const void* x = nullptr;
  const void* y = nullptr;  // null without a ReLU
  void* dy = nullptr;
  const void* dy2 = nullptr;  // null with a single consumer
};
// dx = scale * g + b * (x - mean) + c.
struct InputCoefficients {
  float* b = nullptr;
  float* c = nullptr;
};
// Writes g, the gradients of weight and bias, and `input`, the coefficients for CudaInputGradient.
cudaError_t CudaGradientSums(const ChannelMatrix& matrix, const CudaGradientPass& pass,
                             const ChannelCoefficients& coefficients,
                             const InputCoefficients& input, const LossScaled& scaled,
                             float* weight_gradient, float* bias_gradient, float* partial,
                             cudaStream_t stream);
// Writes dx, the gradient of the input. dx may be g.
cudaError_t CudaInputGradient(const ChannelMatrix& matrix, const void* x, const void* g,
                              const ChannelCoefficients& coefficients,
                              const InputCoefficients& input, void* dx, cudaStream_t stream);

// gradient <- the sum of dy's rows, which is the gradient of a bias.
cudaError_t CudaBiasGradient(const ChannelMatrix& matrix, const void* dy, const LossScaled& scaled,
                             float* gradient, float* partial, cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_TENSOR_PASSES_H_
