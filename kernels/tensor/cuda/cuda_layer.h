// Common parts of a GPU's layers: sums of gradients, what a product's epilogue could not do,
// and weights in the products' format.
//
// Calls queue on the context's stream. Internal to kernels/tensor/cuda/.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_LAYER_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_LAYER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/tensor/cuda/cuda_tensor_context.h"
#include "kernels/tensor/cuda/passes/cuda_tensor_passes.h"
#include "kernels/tensor/cuda/passes/loss_scaled.h"
#include "kernels/tensor/layer.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

// Queues the sum of the first `count` of the output's gradients into the first one, and
// returns that.
inline void* SumGradients(CudaTensorContext& context, const LayerTensors& tensors, size_t count,
                          const TensorFormat& format) {
  void* const sum = tensors.output_gradients[0];
  for (size_t k = 1; k < count; ++k) {
    context.Note(CudaElementwise(ElementwisePass::kAdd, format.type, sum,
                                 tensors.output_gradients[k], format.size(), sum, context.stream()),
                 "a sum of gradients");
  }
  return sum;
}

// The same for all of them, then through the ReLU's gradient if there is a ReLU.
inline void* GradientPastRelu(CudaTensorContext& context, const LayerTensors& tensors, bool relu,
                              const TensorFormat& format) {
  void* const dy = SumGradients(context, tensors, tensors.output_gradients.size(), format);
  if (relu) {
    context.Note(CudaElementwise(ElementwisePass::kMask, format.type, tensors.output, dy,
                                 format.size(), dy, context.stream()),
                 "the gradient of a ReLU");
  }
  return dy;
}

// Queues what a product's epilogue could not do: y + bias if there is one, then ReLU.
inline void AddBiasAndRelu(CudaTensorContext& context, const TensorFormat& format, const void* bias,
                           bool relu, void* y) {
  if (bias != nullptr) {
    context.Note(CudaAddBias(format, bias, relu, y, context.stream()), "a bias");
  } else if (relu) {
    context.Note(CudaElementwise(ElementwisePass::kRelu, format.type, y, nullptr, format.size(), y,
                                 context.stream()),
                 "a ReLU");
  }
}

// Weights or a bias, between the replica and the products of a GPU's layer: copied into another
// type and order, or used in place when these agree. A value.
struct ProductParameters {
  std::string name;  // "weights of a convolution": in errors
  TensorShape shape;
  int64_t offset = 0;         // in the replica
  ElementType type;           // as products read them
  ElementType gradient_type;  // as products write their gradient

  // Where products read them: in the replica, or in `packed`.
  const void* Memory(const float* replica, void* packed) const;
  // Copies them there, unless they are used in place; returns the address.
  const void* Pack(CudaTensorContext& context, const float* replica, void* packed) const;

  // Where products write their gradient: in the replica's, or in `packed`.
  void* GradientMemory(const LossScaled& scaled, float* gradient, void* packed) const;
  // Copies it from there, unless it was written in place.
  void UnpackGradient(CudaTensorContext& context, float* gradient, void* packed) const;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_LAYER_H_
