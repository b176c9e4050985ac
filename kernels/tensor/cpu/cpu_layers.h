// The CPU's layers: some by oneDNN (onednn_layers.cc), some by passes of our own (passes.h,
// pass_layers.cc).
//
// Internal to kernels/tensor/; the device of cpu_tensor_device.h makes the layers.
#ifndef GRAPEVINE_KERNELS_TENSOR_CPU_CPU_LAYERS_H_
#define GRAPEVINE_KERNELS_TENSOR_CPU_CPU_LAYERS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/tensor/layer.h"

namespace grapevine {

// Make layers that run oneDNN's primitives.
absl::StatusOr<std::unique_ptr<Layer>> MakeConvolutionLayer(const Convolution& operation,
                                                            const LayerRequest& request);
absl::StatusOr<std::unique_ptr<Layer>> MakeInnerProductLayer(const InnerProduct& operation,
                                                             const LayerRequest& request);
absl::StatusOr<std::unique_ptr<Layer>> MakePoolingLayer(const Pooling& operation,
                                                        const LayerRequest& request);

// Make layers that run passes of our own, for any layout.
absl::StatusOr<std::unique_ptr<Layer>> MakeReluLayer(const LayerRequest& request);
absl::StatusOr<std::unique_ptr<Layer>> MakeAddLayer(const Add& operation,
                                                    const LayerRequest& request);
absl::StatusOr<std::unique_ptr<Layer>> MakeSubsampleLayer(const Subsample& operation,
                                                          const LayerRequest& request);

// Makes a layer of batch normalization, fused with the addition of a shortcut and the ReLU. Its
// inputs are x and, if it has one, the shortcut.
absl::StatusOr<std::unique_ptr<Layer>> MakeBatchNormLayer(const BatchNormalization& operation,
                                                          const LayerRequest& request);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CPU_CPU_LAYERS_H_
