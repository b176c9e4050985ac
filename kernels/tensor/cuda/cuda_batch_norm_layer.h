// Batch normalization on a GPU with its neighbours fused: shortcut, ReLU.
//
// Inputs: x, and the shortcut where there is one. Internal to kernels/tensor/cuda/; made
// by cuda_tensor_device.h.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_BATCH_NORM_LAYER_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_BATCH_NORM_LAYER_H_

#include <memory>

#include "kernels/tensor/cuda/cuda_tensor_context.h"
#include "kernels/tensor/layer.h"

namespace grapevine {

std::unique_ptr<Layer> MakeCudaBatchNormLayer(CudaTensorContext& context,
                                              const BatchNormalization& operation,
                                              const LayerRequest& request);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_BATCH_NORM_LAYER_H_
