// Layers by oneDNN: convolution, inner product, pooling.
//
// Internal to kernels/tensor/; made by cpu_tensor_device.h.
#ifndef GRAPEVINE_KERNELS_TENSOR_CPU_ONEDNN_LAYERS_H_
#define GRAPEVINE_KERNELS_TENSOR_CPU_ONEDNN_LAYERS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/tensor/layer.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<Layer>> MakeConvolutionLayer(const Convolution& operation,
                                                            const LayerRequest& request);

absl::StatusOr<std::unique_ptr<Layer>> MakeInnerProductLayer(const InnerProduct& operation,
                                                             const LayerRequest& request);

absl::StatusOr<std::unique_ptr<Layer>> MakePoolingLayer(const Pooling& operation,
                                                        const LayerRequest& request);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CPU_ONEDNN_LAYERS_H_
