// The CPU's tensor operations: oneDNN where it is fast, passes of our own where
// fusing pays (batch normalization, element-wise operations).
//
// Thread-safety: immutable, safe from any thread; a layer belongs to one thread
// at a time, which runs it inside a TensorThread (tensor_thread.h).
#ifndef GRAPEVINE_KERNELS_TENSOR_CPU_LAYERS_H_
#define GRAPEVINE_KERNELS_TENSOR_CPU_LAYERS_H_

#include "kernels/tensor/layer.h"

namespace grapevine {

class CpuLayers : public LayerFactory {
 public:
  absl::StatusOr<std::unique_ptr<Layer>> Make(const LayerRequest& request) const override;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CPU_LAYERS_H_
