// Reference of pooling. Of equal largest values the first one gets the gradient.
#ifndef GRAPEVINE_KERNELS_TENSOR_REFERENCE_POOLING_H_
#define GRAPEVINE_KERNELS_TENSOR_REFERENCE_POOLING_H_

#include <algorithm>
#include <vector>

#include "kernels/tensor/reference/call.h"

namespace grapevine {

inline TensorShape ReferenceShape(const Pooling& o, const std::vector<TensorShape>& inputs) {
  const TensorShape& x = inputs[0];
  const auto extent = [&](int64_t size) {
    const int64_t kernel = o.kernel == 0 ? size : o.kernel;
    return (size + 2 * o.padding - kernel) / o.stride + 1;
  };
  return {x.n, x.c, extent(x.h), extent(x.w)};
}

// The input elements under the window of one output element.
inline std::vector<int64_t> Window(const Pooling& o, const TensorShape& x, int64_t n, int64_t c,
                                   int64_t h, int64_t w) {
  const int64_t kernel_h = o.kernel == 0 ? x.h : o.kernel;
  const int64_t kernel_w = o.kernel == 0 ? x.w : o.kernel;
  std::vector<int64_t> window;
  for (int64_t row = h * o.stride - o.padding; row < h * o.stride - o.padding + kernel_h; ++row) {
    for (int64_t column = w * o.stride - o.padding; column < w * o.stride - o.padding + kernel_w;
         ++column) {
      if (row < 0 || row >= x.h || column < 0 || column >= x.w) continue;
      window.push_back(Index(x, n, c, row, column));
    }
  }
  return window;
}

template <typename T>
std::vector<T> ReferenceForward(const Pooling& o, const ReferenceCall<T>& call) {
  const std::vector<T>& x = call.inputs[0];
  std::vector<T> y;
  ForEachElement(ReferenceShape(o, call.shapes), [&](int64_t n, int64_t c, int64_t h, int64_t w) {
    const std::vector<int64_t> window = Window(o, call.shapes[0], n, c, h, w);
    T largest = x[window[0]];
    T sum = 0;
    for (int64_t i : window) {
      largest = std::max(largest, x[i]);
      sum += x[i];
    }
    y.push_back(o.kind == Pooling::Kind::kMax ? largest : sum / static_cast<T>(window.size()));
  });
  return y;
}

template <typename T>
ReferenceGradient<T> ReferenceBackward(const Pooling& o, const ReferenceCall<T>& call,
                                       const std::vector<T>& dy) {
  const std::vector<T>& x = call.inputs[0];
  ReferenceGradient<T> gradient(call);
  int64_t out = 0;
  ForEachElement(ReferenceShape(o, call.shapes), [&](int64_t n, int64_t c, int64_t h, int64_t w) {
    const std::vector<int64_t> window = Window(o, call.shapes[0], n, c, h, w);
    const T g = dy[out++];
    if (o.kind == Pooling::Kind::kMax) {
      const auto largest = std::max_element(window.begin(), window.end(),
                                            [&](int64_t a, int64_t b) { return x[a] < x[b]; });
      gradient.inputs[0][*largest] += g;
      return;
    }
    for (int64_t i : window) gradient.inputs[0][i] += g / static_cast<T>(window.size());
  });
  return gradient;
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_REFERENCE_POOLING_H_
