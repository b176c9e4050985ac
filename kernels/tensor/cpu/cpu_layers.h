// The CPU's layers: by oneDNN (onednn_layers.cc), and passes of our own (passes.h, pass_layers.cc).
//
// Internal to kernels/tensor/; made by cpu_tensor_device.h.
#ifndef GRAPEVINE_KERNELS_TENSOR_CPU_CPU_LAYERS_H_
#define GRAPEVINE_KERNELS_TENSOR_CPU_CPU_LAYERS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/tensor/layer.h"

namespace grapevine {

// By oneDNN.
absl::StatusOr<std::unique_ptr<Layer>> MakeConvolutionLayer(const Convolution& operation,
                                                            const LayerRequest& request);
absl::StatusOr<std::unique_ptr<Layer>> MakeInnerProductLayer(const InnerProduct& operation,
                                                             const LayerRequest& request);
absl::StatusOr<std::unique_ptr<Layer>> MakePoolingLayer(const Pooling& operation,
                                                        const LayerRequest& request);

// Passes of our own, for any layout.
absl::StatusOr<std::unique_ptr<Layer>> MakeReluLayer(const LayerRequest& request);
absl::StatusOr<std::unique_ptr<Layer>> MakeAddLayer(const Add& operation,
                                                    const LayerRequest& request);
absl::StatusOr<std::unique_ptr<Layer>> MakeSubsampleLayer(const Subsample& operation,
                                                          const LayerRequest& request);

// With its neighbours fused. Inputs: x, and the shortcut where there is one.
absl::StatusOr<std::unique_ptr<Layer>> MakeBatchNormLayer(const BatchNormalization& operation,
                                                          const LayerRequest& request);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CPU_CPU_LAYERS_H_
