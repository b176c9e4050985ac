// References of element-wise operations: ReLU, addition, the parameter-free shortcut, and batch
// normalization (Ioffe and Szegedy 2015), with a shortcut if a second input is given.
#ifndef GRAPEVINE_KERNELS_TENSOR_REFERENCE_ELEMENTWISE_H_
#define GRAPEVINE_KERNELS_TENSOR_REFERENCE_ELEMENTWISE_H_

#include <cmath>
#include <vector>

#include "kernels/tensor/reference/call.h"

namespace grapevine {

inline TensorShape ReferenceShape(const BatchNormalization&,
                                  const std::vector<TensorShape>& inputs) {
  return inputs[0];
}

template <typename T>
struct ChannelMoment {
  T mean = 0;
  T variance = 0;  // biased
};

template <typename T>
std::vector<ChannelMoment<T>> BatchMoments(const ReferenceCall<T>& call) {
  const TensorShape& s = call.shapes[0];
  const T count = static_cast<T>(s.n * s.area());
  std::vector<ChannelMoment<T>> moments(s.c);
  ForEachElement(s, [&](int64_t n, int64_t c, int64_t h, int64_t w) {
    moments[c].mean += call.inputs[0][Index(s, n, c, h, w)] / count;
  });
  ForEachElement(s, [&](int64_t n, int64_t c, int64_t h, int64_t w) {
    const T d = call.inputs[0][Index(s, n, c, h, w)] - moments[c].mean;
    moments[c].variance += d * d / count;
  });
  return moments;
}

template <typename T>
std::vector<ChannelMoment<T>> MomentsOf(const BatchNormalization& o, const ReferenceCall<T>& call) {
  if (call.mode == Mode::kTraining) return BatchMoments(call);
  std::vector<ChannelMoment<T>> moments(call.shapes[0].c);
  for (int64_t c = 0; c < call.shapes[0].c; ++c) {
    moments[c] = {call.replica[o.running_mean + c], call.replica[o.running_variance + c]};
  }
  return moments;
}

template <typename T>
std::vector<T> ReferenceForward(const BatchNormalization& o, const ReferenceCall<T>& call) {
  const TensorShape& s = call.shapes[0];
  const auto moments = MomentsOf(o, call);
  std::vector<T> y(s.size());
  ForEachElement(s, [&](int64_t n, int64_t c, int64_t h, int64_t w) {
    const int64_t i = Index(s, n, c, h, w);
    const T normal = (call.inputs[0][i] - moments[c].mean) /
                     std::sqrt(moments[c].variance + static_cast<T>(o.epsilon));
    y[i] = normal * call.replica[o.weight + c] + call.replica[o.bias + c];
    if (call.inputs.size() > 1) y[i] += call.inputs[1][i];
  });
  return y;
}

template <typename T>
ReferenceGradient<T> ReferenceBackward(const BatchNormalization& o, const ReferenceCall<T>& call,
                                       const std::vector<T>& dy) {
  const TensorShape& s = call.shapes[0];
  const T count = static_cast<T>(s.n * s.area());
  const auto moments = BatchMoments(call);
  ReferenceGradient<T> gradient(call);
  const auto inverse = [&](int64_t c) {
    return 1 / std::sqrt(moments[c].variance + static_cast<T>(o.epsilon));
  };
  const auto normal = [&](int64_t i, int64_t c) {
    return (call.inputs[0][i] - moments[c].mean) * inverse(c);
  };
  ForEachElement(s, [&](int64_t n, int64_t c, int64_t h, int64_t w) {
    const int64_t i = Index(s, n, c, h, w);
    gradient.replica[o.bias + c] += dy[i];
    gradient.replica[o.weight + c] += dy[i] * normal(i, c);
  });
  ForEachElement(s, [&](int64_t n, int64_t c, int64_t h, int64_t w) {
    const int64_t i = Index(s, n, c, h, w);
    gradient.inputs[0][i] = call.replica[o.weight + c] * inverse(c) *
                            (dy[i] - gradient.replica[o.bias + c] / count -
                             normal(i, c) * gradient.replica[o.weight + c] / count);
    if (call.inputs.size() > 1) gradient.inputs[1][i] = dy[i];
  });
  for (int64_t c = 0; c < s.c; ++c) {
    gradient.replica[o.running_mean + c] = moments[c].mean;
    gradient.replica[o.running_variance + c] = moments[c].variance * count / (count - 1);
  }
  return gradient;
}

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

// ReLU in place, y <- max(y, 0), and its gradient, given the output y.
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
