// What a GPU's layers have in common. Internal to kernels/tensor/cuda/.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_LAYER_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_LAYER_H_

#include <cstddef>

#include "kernels/tensor/cuda/cuda_tensor_context.h"
#include "kernels/tensor/cuda/passes/cuda_elementwise.h"
#include "kernels/tensor/layer.h"

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

// The same of all of them, and then past the ReLU where there is one.
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

// Queues what a product left undone: y + bias where there is one, then ReLU.
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

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_LAYER_H_
