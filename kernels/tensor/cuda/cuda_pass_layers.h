// The layers of a GPU that are passes of our own: pooling, ReLU, addition and the
// parameter-free shortcut, and batch normalization with its neighbours fused.
//
// Internal to kernels/tensor/cuda/; made by cuda_tensor_device.h.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_PASS_LAYERS_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_PASS_LAYERS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/tensor/cuda/cuda_tensor_context.h"
#include "kernels/tensor/layer.h"

namespace grapevine {

// InvalidArgument: a window of more than 65536 positions.
absl::StatusOr<std::unique_ptr<Layer>> MakeCudaPoolingLayer(CudaTensorContext& context,
                                                            const Pooling& operation,
                                                            const LayerRequest& request);
std::unique_ptr<Layer> MakeCudaReluLayer(CudaTensorContext& context, const LayerRequest& request);
std::unique_ptr<Layer> MakeCudaAddLayer(CudaTensorContext& context, const Add& operation,
                                        const LayerRequest& request);
std::unique_ptr<Layer> MakeCudaSubsampleLayer(CudaTensorContext& context,
                                              const Subsample& operation,
                                              const LayerRequest& request);

// Inputs: x, and the shortcut where there is one.
std::unique_ptr<Layer> MakeCudaBatchNormLayer(CudaTensorContext& context,
                                              const BatchNormalization& operation,
                                              const LayerRequest& request);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_PASS_LAYERS_H_
