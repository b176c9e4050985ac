// Reference of the inner product: a convolution whose kernel is the whole image.
#ifndef GRAPEVINE_KERNELS_TENSOR_REFERENCE_INNER_PRODUCT_H_
#define GRAPEVINE_KERNELS_TENSOR_REFERENCE_INNER_PRODUCT_H_

#include <vector>

#include "kernels/tensor/reference/call.h"

namespace grapevine {

inline TensorShape ReferenceShape(const InnerProduct& o, const std::vector<TensorShape>& inputs) {
  return {inputs[0].n, o.outputs, 1, 1};
}

template <typename T>
std::vector<T> ReferenceForward(const InnerProduct& o, const ReferenceCall<T>& call) {
  const int64_t rows = call.shapes[0].n;
  const int64_t width = call.shapes[0].size() / rows;
  std::vector<T> y(rows * o.outputs);
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t k = 0; k < o.outputs; ++k) {
      T sum = o.bias == kNoOffset ? T(0) : call.replica[o.bias + k];
      for (int64_t i = 0; i < width; ++i) {
        sum += call.inputs[0][n * width + i] * call.replica[o.weight + k * width + i];
      }
      y[n * o.outputs + k] = sum;
    }
  }
  return y;
}

template <typename T>
ReferenceGradient<T> ReferenceBackward(const InnerProduct& o, const ReferenceCall<T>& call,
                                       const std::vector<T>& dy) {
  const int64_t rows = call.shapes[0].n;
  const int64_t width = call.shapes[0].size() / rows;
  ReferenceGradient<T> gradient(call);
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t k = 0; k < o.outputs; ++k) {
      const T g = dy[n * o.outputs + k];
      if (o.bias != kNoOffset) gradient.replica[o.bias + k] += g;
      for (int64_t i = 0; i < width; ++i) {
        gradient.inputs[0][n * width + i] += g * call.replica[o.weight + k * width + i];
        gradient.replica[o.weight + k * width + i] += g * call.inputs[0][n * width + i];
      }
    }
  }
  return gradient;
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_REFERENCE_INNER_PRODUCT_H_
