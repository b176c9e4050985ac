// Reference of convolution.
#ifndef GRAPEVINE_KERNELS_TENSOR_REFERENCE_CONVOLUTION_H_
#define GRAPEVINE_KERNELS_TENSOR_REFERENCE_CONVOLUTION_H_

#include <vector>

#include "kernels/tensor/reference/call.h"

namespace grapevine {

inline TensorShape ReferenceShape(const Convolution& o, const std::vector<TensorShape>& inputs) {
  const TensorShape& x = inputs[0];
  return {x.n, o.outputs, (x.h + 2 * o.padding - o.kernel) / o.stride + 1,
          (x.w + 2 * o.padding - o.kernel) / o.stride + 1};
}

// Calls body(y index, x index, weight index) for every product of the sum.
template <typename Body>
void ForEachProduct(const Convolution& o, const TensorShape& x, const TensorShape& y,
                    const Body& body) {
  const TensorShape weights{o.outputs, x.c, o.kernel, o.kernel};
  ForEachElement(y, [&](int64_t n, int64_t c, int64_t h, int64_t w) {
    for (int64_t i = 0; i < x.c; ++i) {
      for (int64_t kh = 0; kh < o.kernel; ++kh) {
        for (int64_t kw = 0; kw < o.kernel; ++kw) {
          const int64_t row = h * o.stride + kh - o.padding;
          const int64_t column = w * o.stride + kw - o.padding;
          if (row < 0 || row >= x.h || column < 0 || column >= x.w) continue;
          body(Index(y, n, c, h, w), Index(x, n, i, row, column), Index(weights, c, i, kh, kw));
        }
      }
    }
  });
}

template <typename T>
std::vector<T> ReferenceForward(const Convolution& o, const ReferenceCall<T>& call) {
  const TensorShape shape = ReferenceShape(o, call.shapes);
  std::vector<T> y(shape.size());
  if (o.bias != kNoOffset) {
    ForEachElement(shape, [&](int64_t n, int64_t c, int64_t h, int64_t w) {
      y[Index(shape, n, c, h, w)] = call.replica[o.bias + c];
    });
  }
  ForEachProduct(o, call.shapes[0], shape, [&](int64_t out, int64_t in, int64_t weight) {
    y[out] += call.inputs[0][in] * call.replica[o.weight + weight];
  });
  return y;
}

template <typename T>
ReferenceGradient<T> ReferenceBackward(const Convolution& o, const ReferenceCall<T>& call,
                                       const std::vector<T>& dy) {
  const TensorShape shape = ReferenceShape(o, call.shapes);
  ReferenceGradient<T> gradient(call);
  if (o.bias != kNoOffset) {
    ForEachElement(shape, [&](int64_t n, int64_t c, int64_t h, int64_t w) {
      gradient.replica[o.bias + c] += dy[Index(shape, n, c, h, w)];
    });
  }
  ForEachProduct(o, call.shapes[0], shape, [&](int64_t out, int64_t in, int64_t weight) {
    gradient.inputs[0][in] += dy[out] * call.replica[o.weight + weight];
    gradient.replica[o.weight + weight] += dy[out] * call.inputs[0][in];
  });
  return gradient;
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_REFERENCE_CONVOLUTION_H_
