// Convolution by oneDNN. Internal to kernels/tensor/; made by cpu_tensor_device.h.
#ifndef GRAPEVINE_KERNELS_TENSOR_CPU_CONVOLUTION_LAYER_H_
#define GRAPEVINE_KERNELS_TENSOR_CPU_CONVOLUTION_LAYER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/tensor/layer.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<Layer>> MakeConvolutionLayer(const Convolution& operation,
                                                            const LayerRequest& request);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CPU_CONVOLUTION_LAYER_H_
