// Convolution by cuDNN, with bias and ReLU in the same graph if it has an engine for that, else
// by a pass after it.
//
// Internal to kernels/tensor/cuda/; made by cuda_tensor_device.h.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_CONVOLUTION_LAYER_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_CONVOLUTION_LAYER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/tensor/cuda/cuda_tensor_context.h"
#include "kernels/tensor/layer.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<Layer>> MakeCudaConvolutionLayer(CudaTensorContext& context,
                                                                const Convolution& operation,
                                                                const LayerRequest& request);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_CONVOLUTION_LAYER_H_
