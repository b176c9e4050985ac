// Inner product by cuBLASLt, with bias, ReLU and (backward) the bias's gradient in its epilogue
// if it has an algorithm for that, else by a pass of our own.
//
// Internal to kernels/tensor/cuda/; made by cuda_tensor_device.h.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_INNER_PRODUCT_LAYER_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_INNER_PRODUCT_LAYER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/tensor/cuda/cuda_tensor_context.h"
#include "kernels/tensor/layer.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<Layer>> MakeCudaInnerProductLayer(CudaTensorContext& context,
                                                                 const InnerProduct& operation,
                                                                 const LayerRequest& request);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_INNER_PRODUCT_LAYER_H_
