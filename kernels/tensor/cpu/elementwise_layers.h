// ReLU, addition and the parameter-free shortcut, for any layout.
//
// Internal to kernels/tensor/; made by cpu_tensor_device.h.
#ifndef GRAPEVINE_KERNELS_TENSOR_CPU_ELEMENTWISE_LAYERS_H_
#define GRAPEVINE_KERNELS_TENSOR_CPU_ELEMENTWISE_LAYERS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/tensor/layer.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<Layer>> MakeReluLayer(const LayerRequest& request);
absl::StatusOr<std::unique_ptr<Layer>> MakeAddLayer(const Add& operation,
                                                    const LayerRequest& request);
absl::StatusOr<std::unique_ptr<Layer>> MakeSubsampleLayer(const Subsample& operation,
                                                          const LayerRequest& request);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CPU_ELEMENTWISE_LAYERS_H_
