// The passes of our own over nhwc tensors on a GPU: element by element, pooling, softmax
// cross-entropy, weights on their way to and from the replica, and batch normalization, fused with
// its neighbours.
//
// Pooling is our own rather than cuDNN's, which compiles its engines at run time and does not
// document where the gradient of ties goes (README.md); here the first maximum gets it, as on
// the CPU, and padding does not count in an average. Backward gathers, so that it has the same
// bits in every run.
//
// Weights are fp32 in PyTorch's order (out, in, kh, kw) in the replica, and in the type of their
// tensors and in cuDNN's order (out, kh, kw, in) in a layer.
//
// Batch normalization is our own because cuDNN's has no engine for Turing nor for every number of
// channels (README.md). A residual network's normalization is bound by memory, and what
// counts is that each tensor is walked once for all that stands next to it: the
// shortcut, the ReLU (whose mask is read off the output), the sum of two consumers'
// gradients, and the unbiased variance that the replica's buffers want. These passes are
// the same from Turing to Blackwell in fp32, bf16 and fp16. Statistics are Welford's in
// fp32 within a thread, joined as Chan, Golub and LeVeque (1979) do, in double at the end,
// in a fixed order: the same bits in every run.
//
// All pointers are device memory, tensors are aligned to 16 bytes.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_TENSOR_PASSES_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_TENSOR_PASSES_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/tensor/layer.h"
#include "kernels/tensor/softmax_cross_entropy.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

// How elements of the replica's gradient are written, where it was computed from a scaled loss.
struct LossScaled {
  float inverse = 1;  // 1 / the loss's scale
  // Device memory; set to 1 where an element is not finite. Null: nobody asks.
  int* overflow = nullptr;
};

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

// A tensor as a matrix: a row per position of a sample, a column per channel.
struct ChannelMatrix {
  ElementType type = ElementType::kFloat32;
  int64_t rows = 0;
  int64_t channels = 0;
};

// Bytes of the `partial` that the passes with sums write.
int64_t PartialSumBytes(const ChannelMatrix& matrix);

// The normalization of a channel: y = x * scale + shift. Each points to a value per channel.
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

// From the batch; also writes its mean and its unbiased variance (for a single value, the
// biased one).
cudaError_t BatchCoefficients(const ChannelMatrix& matrix, const void* x,
                              const ChannelParameters& parameters,
                              const ChannelCoefficients& coefficients, float* batch_mean,
                              float* batch_variance, float* partial, cudaStream_t stream);
// From running statistics.
cudaError_t RunningCoefficients(int64_t channels, const float* running_mean,
                                const float* running_variance, const ChannelParameters& parameters,
                                const ChannelCoefficients& coefficients, cudaStream_t stream);

// y = x * scale + shift, + shortcut if there is one, then ReLU if requested.
struct CudaNormalizePass {
  const void* x = nullptr;
  const void* shortcut = nullptr;
  void* y = nullptr;
  bool relu = false;
};
cudaError_t CudaNormalize(const ChannelMatrix& matrix, const CudaNormalizePass& pass,
                          const ChannelCoefficients& coefficients, cudaStream_t stream);

// g is the gradient past the ReLU: dy (+ dy2), zero where y <= 0; it is written into dy.
struct CudaGradientPass {
  const void* x = nullptr;
  const void* y = nullptr;  // null: no ReLU
  void* dy = nullptr;
  const void* dy2 = nullptr;  // null: one consumer
};
// dx = scale * g + b * (x - mean) + c.
struct InputCoefficients {
  float* b = nullptr;
  float* c = nullptr;
};
// Writes g, the gradients of weight and bias, and what InputGradient needs.
cudaError_t CudaGradientSums(const ChannelMatrix& matrix, const CudaGradientPass& pass,
                             const ChannelCoefficients& coefficients,
                             const InputCoefficients& input, const LossScaled& scaled,
                             float* weight_gradient, float* bias_gradient, float* partial,
                             cudaStream_t stream);
// dx may lie where g does.
cudaError_t CudaInputGradient(const ChannelMatrix& matrix, const void* x, const void* g,
                              const ChannelCoefficients& coefficients,
                              const InputCoefficients& input, void* dx, cudaStream_t stream);

// gradient <- the sum of dy's rows: that of a bias.
cudaError_t CudaBiasGradient(const ChannelMatrix& matrix, const void* dy, const LossScaled& scaled,
                             float* gradient, float* partial, cudaStream_t stream);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_TENSOR_PASSES_H_
