// The passes of batch normalization over nhwc tensors on a GPU, fused with their
// neighbours: ReLU, the addition of a shortcut, the sum of two gradients.
//
// Our own rather than cuDNN's, which has no engine for Turing nor for every number of
// channels (README.md). A residual network's normalization is bound by memory, and what
// counts is that each tensor is walked once for all that stands next to it: the
// shortcut, the ReLU (whose mask is read off the output), the sum of two consumers'
// gradients, and the unbiased variance that the replica's buffers want. These passes are
// the same from Turing to Blackwell in fp32, bf16 and fp16. Statistics are Welford's in
// fp32 within a thread, joined as Chan, Golub and LeVeque (1979) do, in double at the end,
// in a fixed order: the same bits in every run.
//
// All pointers are device memory; tensors are aligned to 16 bytes.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_BATCH_NORM_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_BATCH_NORM_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/tensor/cuda/passes/loss_scaled.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

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

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_PASSES_CUDA_BATCH_NORM_H_
