// References of ReLU, addition and the parameter-free shortcut.
#ifndef GRAPEVINE_KERNELS_TENSOR_REFERENCE_ELEMENTWISE_H_
#define GRAPEVINE_KERNELS_TENSOR_REFERENCE_ELEMENTWISE_H_

#include <vector>

#include "kernels/tensor/reference/call.h"

namespace grapevine {

inline TensorShape ReferenceShape(const Relu&, const std::vector<TensorShape>& inputs) {
  return inputs[0];
}
inline TensorShape ReferenceShape(const Add&, const std::vector<TensorShape>& inputs) {
  return inputs[0];
}
inline TensorShape ReferenceShape(const Subsample& o, const std::vector<TensorShape>& inputs) {
  const TensorShape& x = inputs[0];
  return {x.n, o.channels, (x.h + o.stride - 1) / o.stride, (x.w + o.stride - 1) / o.stride};
}

// y <- max(y, 0), and the gradient past it.
template <typename T>
void ReferenceRelu(std::vector<T>* y) {
  for (T& value : *y) {
    if (value < 0) value = 0;
  }
}
template <typename T>
void ReferenceReluBackward(const std::vector<T>& y, std::vector<T>* dy) {
  for (size_t i = 0; i < y.size(); ++i) {
    if (!(y[i] > 0)) (*dy)[i] = 0;
  }
}

template <typename T>
std::vector<T> ReferenceForward(const Relu&, const ReferenceCall<T>& call) {
  std::vector<T> y = call.inputs[0];
  ReferenceRelu(&y);
  return y;
}
template <typename T>
ReferenceGradient<T> ReferenceBackward(const Relu&, const ReferenceCall<T>& call,
                                       const std::vector<T>& dy) {
  ReferenceGradient<T> gradient(call);
  gradient.inputs[0] = dy;
  ReferenceReluBackward(call.inputs[0], &gradient.inputs[0]);
  return gradient;
}

template <typename T>
std::vector<T> ReferenceForward(const Add&, const ReferenceCall<T>& call) {
  std::vector<T> y = call.inputs[0];
  for (size_t i = 0; i < y.size(); ++i) y[i] += call.inputs[1][i];
  return y;
}
template <typename T>
ReferenceGradient<T> ReferenceBackward(const Add&, const ReferenceCall<T>& call,
                                       const std::vector<T>& dy) {
  ReferenceGradient<T> gradient(call);
  gradient.inputs = {dy, dy};
  return gradient;
}

template <typename T>
std::vector<T> ReferenceForward(const Subsample& o, const ReferenceCall<T>& call) {
  const TensorShape& x = call.shapes[0];
  std::vector<T> y;
  ForEachElement(ReferenceShape(o, call.shapes), [&](int64_t n, int64_t c, int64_t h, int64_t w) {
    y.push_back(c < x.c ? call.inputs[0][Index(x, n, c, h * o.stride, w * o.stride)] : T(0));
  });
  return y;
}
template <typename T>
ReferenceGradient<T> ReferenceBackward(const Subsample& o, const ReferenceCall<T>& call,
                                       const std::vector<T>& dy) {
  const TensorShape& x = call.shapes[0];
  const TensorShape y = ReferenceShape(o, call.shapes);
  ReferenceGradient<T> gradient(call);
  ForEachElement(y, [&](int64_t n, int64_t c, int64_t h, int64_t w) {
    if (c >= x.c) return;
    gradient.inputs[0][Index(x, n, c, h * o.stride, w * o.stride)] = dy[Index(y, n, c, h, w)];
  });
  return gradient;
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_REFERENCE_ELEMENTWISE_H_
