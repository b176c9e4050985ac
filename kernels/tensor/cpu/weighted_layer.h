// The common part of convolution and inner product: a linear map with weights, a bias and
// optionally a ReLU, computed by three oneDNN primitives.
//
// Internal to kernels/tensor/. Thread-compatible.
#ifndef GRAPEVINE_KERNELS_TENSOR_CPU_WEIGHTED_LAYER_H_
#define GRAPEVINE_KERNELS_TENSOR_CPU_WEIGHTED_LAYER_H_

#include <cstdint>

#include "kernels/tensor/cpu/onednn.h"

namespace grapevine {

// The primitives and the formats that they chose.
struct LinearPrimitives {
  struct Forward {
    dnnl::primitive primitive;
    dnnl::memory::desc source, weights, destination, scratchpad;
  };
  struct BackwardWeights {
    dnnl::primitive primitive;
    dnnl::memory::desc source, weights_gradient, destination_gradient, scratchpad;
  };
  struct BackwardData {
    dnnl::primitive primitive;
    dnnl::memory::desc source_gradient, weights, destination_gradient, scratchpad;
  };
  Forward forward;
  std::optional<BackwardWeights> backward_weights;
  std::optional<BackwardData> backward_data;
};

// The formats of the same tensors outside the layer.
struct LinearFormats {
  dnnl::memory::desc input;
  dnnl::memory::desc weights;  // as in the replica
  dnnl::memory::desc output_memory;
  TensorFormat output;
  int64_t outputs = 0;
};

struct LinearWeights {
  int64_t weight = kNoOffset;  // offsets in the replica
  int64_t bias = kNoOffset;
  bool relu = false;
};

std::unique_ptr<Layer> MakeWeightedLayer(const LinearPrimitives& primitives,
                                         const LinearFormats& formats,
                                         const LinearWeights& weights);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CPU_WEIGHTED_LAYER_H_
