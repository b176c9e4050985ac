// Layers that are passes of our own (passes.h): ReLU, addition and the parameter-free shortcut
// for any layout, and batch normalization with its neighbours fused.
//
// Internal to kernels/tensor/; made by cpu_tensor_device.h.
#ifndef GRAPEVINE_KERNELS_TENSOR_CPU_PASS_LAYERS_H_
#define GRAPEVINE_KERNELS_TENSOR_CPU_PASS_LAYERS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/tensor/layer.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<Layer>> MakeReluLayer(const LayerRequest& request);
absl::StatusOr<std::unique_ptr<Layer>> MakeAddLayer(const Add& operation,
                                                    const LayerRequest& request);
absl::StatusOr<std::unique_ptr<Layer>> MakeSubsampleLayer(const Subsample& operation,
                                                          const LayerRequest& request);

// Inputs: x, and the shortcut where there is one.
absl::StatusOr<std::unique_ptr<Layer>> MakeBatchNormLayer(const BatchNormalization& operation,
                                                          const LayerRequest& request);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CPU_PASS_LAYERS_H_
