// References of operations that slide a window over an image: convolution; the inner product,
// which is a convolution whose kernel is the whole image; and pooling, where the first of equal
// maxima gets the gradient.
#ifndef GRAPEVINE_KERNELS_TENSOR_REFERENCE_WINDOWS_H_
#define GRAPEVINE_KERNELS_TENSOR_REFERENCE_WINDOWS_H_

#include <algorithm>
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

inline TensorShape ReferenceShape(const Pooling& o, const std::vector<TensorShape>& inputs) {
  const TensorShape& x = inputs[0];
  const auto extent = [&](int64_t size) {
    const int64_t kernel = o.kernel == 0 ? size : o.kernel;
    return (size + 2 * o.padding - kernel) / o.stride + 1;
  };
  return {x.n, x.c, extent(x.h), extent(x.w)};
}

// Returns the indices of the input elements under the window of one output element.
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

#endif  // GRAPEVINE_KERNELS_TENSOR_REFERENCE_WINDOWS_H_
