// The layers of a GPU, which outlives them: convolution by cuDNN, inner product by cuBLASLt, and
// passes of our own for the rest.
//
// Internal to kernels/tensor/cuda/; made by cuda_tensor_device.h.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_LAYERS_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_LAYERS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/tensor/cuda/cuda_tensor_context.h"
#include "kernels/tensor/layer.h"

namespace grapevine {

// By cuDNN, with bias and ReLU in the same graph if it has an engine for that, else by a pass
// after it.
absl::StatusOr<std::unique_ptr<Layer>> MakeCudaConvolutionLayer(CudaTensorContext& context,
                                                                const Convolution& operation,
                                                                const LayerRequest& request);

// By cuBLASLt, with bias, ReLU and (backward) the bias's gradient in its epilogue if it has an
// algorithm for that, else by a pass of our own.
absl::StatusOr<std::unique_ptr<Layer>> MakeCudaInnerProductLayer(CudaTensorContext& context,
                                                                 const InnerProduct& operation,
                                                                 const LayerRequest& request);

// Passes of our own. InvalidArgument: a window of more than 65536 positions.
absl::StatusOr<std::unique_ptr<Layer>> MakeCudaPoolingLayer(CudaTensorContext& context,
                                                            const Pooling& operation,
                                                            const LayerRequest& request);
std::unique_ptr<Layer> MakeCudaReluLayer(CudaTensorContext& context, const LayerRequest& request);
std::unique_ptr<Layer> MakeCudaAddLayer(CudaTensorContext& context, const Add& operation,
                                        const LayerRequest& request);
std::unique_ptr<Layer> MakeCudaSubsampleLayer(CudaTensorContext& context,
                                              const Subsample& operation,
                                              const LayerRequest& request);

// With its neighbours fused. Inputs: x, and the shortcut where there is one.
std::unique_ptr<Layer> MakeCudaBatchNormLayer(CudaTensorContext& context,
                                              const BatchNormalization& operation,
                                              const LayerRequest& request);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_LAYERS_H_
