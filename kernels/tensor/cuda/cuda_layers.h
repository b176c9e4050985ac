// The layers of a GPU: convolution by cuDNN, inner product by cuBLASLt, and passes of our own for
// the rest. The context must outlive the layers.
//
// Internal to kernels/tensor/cuda/; the device of cuda_tensor_device.h makes the layers.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_LAYERS_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_LAYERS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/tensor/cuda/cuda_tensor_context.h"
#include "kernels/tensor/layer.h"

namespace grapevine {

// Makes a convolution by cuDNN. Bias and ReLU are in the same graph if cuDNN has an engine for it,
// and otherwise in a pass of our own after the convolution.
absl::StatusOr<std::unique_ptr<Layer>> MakeCudaConvolutionLayer(CudaTensorContext& context,
                                                                const Convolution& operation,
                                                                const LayerRequest& request);

// Makes an inner product by cuBLASLt. The bias and (backward) its gradient are in the product's
// epilogue if cuBLASLt has an algorithm for it, and otherwise in a pass of our own. The ReLU is
// always in a pass of our own.
absl::StatusOr<std::unique_ptr<Layer>> MakeCudaInnerProductLayer(CudaTensorContext& context,
                                                                 const InnerProduct& operation,
                                                                 const LayerRequest& request);

// Make layers that run passes of our own. A pooling window of more than 65536 positions is
// InvalidArgument.
absl::StatusOr<std::unique_ptr<Layer>> MakeCudaPoolingLayer(CudaTensorContext& context,
                                                            const Pooling& operation,
                                                            const LayerRequest& request);
std::unique_ptr<Layer> MakeCudaReluLayer(CudaTensorContext& context, const LayerRequest& request);
std::unique_ptr<Layer> MakeCudaAddLayer(CudaTensorContext& context, const Add& operation,
                                        const LayerRequest& request);
std::unique_ptr<Layer> MakeCudaSubsampleLayer(CudaTensorContext& context,
                                              const Subsample& operation,
                                              const LayerRequest& request);

// Makes a layer of batch normalization, fused with the addition of a shortcut and the ReLU. Its
// inputs are x and, if it has one, the shortcut.
std::unique_ptr<Layer> MakeCudaBatchNormLayer(CudaTensorContext& context,
                                              const BatchNormalization& operation,
                                              const LayerRequest& request);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_LAYERS_H_
