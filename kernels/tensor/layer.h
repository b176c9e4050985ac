// Tensor operations of a network, forward and backward, behind one interface.
//
// A Layer is one operation prepared for fixed shapes: it has chosen its layouts, generated its
// code and stated how much memory it needs. Its caller provides the memory once (Bind) and the
// weights with every call. A TensorDevice (tensor_device.h) makes the layers of one device; all
// pointers refer to that device's memory.
//
// Weights are in the flat replica in PyTorch's order. A layer knows their offsets and writes their
// gradients to the same offsets of the gradient vector. Batch normalization also writes the batch's
// statistics into the vector's buffer section.
//
// Thread-compatible: one thread at a time.
#ifndef GRAPEVINE_KERNELS_TENSOR_LAYER_H_
#define GRAPEVINE_KERNELS_TENSOR_LAYER_H_

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "kernels/tensor/tensor_format.h"

namespace grapevine {

inline constexpr int64_t kNoOffset = -1;  // the replica has no such tensor

// y = W * x + b (cross-correlation), square kernel, W as (out, in, kh, kw).
struct Convolution {
  int64_t outputs = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t weight = kNoOffset;  // offsets in the replica
  int64_t bias = kNoOffset;
  bool relu = false;  // whether a ReLU is fused
};

// y = W x + b, where x is all of (c, h, w) in that order, W as (out, in).
struct InnerProduct {
  int64_t outputs = 0;
  int64_t weight = kNoOffset;
  int64_t bias = kNoOffset;
  bool relu = false;
};

// y = weight * (x - mean) / sqrt(variance + epsilon) + bias per channel (Ioffe and Szegedy
// 2015), [+ a second input], [then ReLU]. Normalizes with the batch's biased variance; the
// statistic for the running variance is unbiased, as in PyTorch.
struct BatchNormalization {
  float epsilon = 1e-5f;
  int64_t weight = kNoOffset;
  int64_t bias = kNoOffset;
  int64_t running_mean = kNoOffset;
  int64_t running_variance = kNoOffset;
  bool relu = false;
};

// Max or average pooling. Padding does not count in an average. With kernel = 0, the window is the
// whole image.
struct Pooling {
  enum class Kind { kMax, kAverage };
  Kind kind = Kind::kMax;
  int64_t kernel = 0;
  int64_t stride = 1;
  int64_t padding = 0;
};

struct Relu {};

// y = a + b, [then ReLU].
struct Add {
  bool relu = false;
};

// Every stride-th pixel of x, with zeros as further channels: the parameter-free shortcut
// (option A) of He et al. 2016.
struct Subsample {
  int64_t channels = 0;
  int64_t stride = 1;
};

using Operation =
    std::variant<Convolution, InnerProduct, BatchNormalization, Pooling, Relu, Add, Subsample>;

enum class Mode { kTraining, kInference };

// The addresses of a layer's tensors, valid for its lifetime. The tensors' formats say what the
// memory holds. A gradient has the format of its tensor. Pointers to gradients are used only in
// training.
template <typename Element>
struct TensorsOf {
  std::vector<const Element*> inputs;
  Element* output = nullptr;
  // One gradient per consumer of the output; the output's gradient is their sum. Backward may
  // overwrite them.
  std::vector<Element*> output_gradients;
  // Parallel to inputs; null if the input's gradient is not needed.
  std::vector<Element*> input_gradients;
  void* kept = nullptr;     // memory that lasts from Forward to Backward
  void* scratch = nullptr;  // memory that lasts for one call
};
using LayerTensors = TensorsOf<void>;
// For layers whose tensors are all fp32.
using FloatTensors = TensorsOf<float>;

inline FloatTensors AsFloats(const LayerTensors& tensors) {
  FloatTensors floats{.output = static_cast<float*>(tensors.output),
                      .kept = tensors.kept,
                      .scratch = tensors.scratch};
  for (const void* x : tensors.inputs) floats.inputs.push_back(static_cast<const float*>(x));
  for (void* g : tensors.output_gradients) {
    floats.output_gradients.push_back(static_cast<float*>(g));
  }
  for (void* g : tensors.input_gradients) floats.input_gradients.push_back(static_cast<float*>(g));
  return floats;
}

class Layer {
 public:
  virtual ~Layer() = default;

  virtual const TensorFormat& output() const = 0;
  // Return the bytes of LayerTensors::kept and LayerTensors::scratch.
  virtual int64_t kept_bytes() const { return 0; }
  virtual int64_t scratch_bytes() const { return 0; }
  // Return whether Backward reads the inputs, and the output, of Forward.
  virtual bool backward_reads_inputs() const { return false; }
  virtual bool backward_reads_output() const { return false; }
  // Returns whether the gradient of an input is written in place. If so, its pointer is
  // output_gradients[0].
  virtual bool shares_gradient(int input) const { return false; }

  virtual void Bind(const LayerTensors& tensors) = 0;
  // `gradient` is null in inference. Both vectors have the whole layout's size.
  virtual void Forward(const float* replica, float* gradient) = 0;
  virtual void Backward(const float* replica, float* gradient) = 0;
};

struct LayerRequest {
  Operation operation;
  std::vector<TensorFormat> inputs;
  Mode mode = Mode::kTraining;
  bool backward = true;  // whether Backward will be called; not in inference
  // Parallel to inputs: whether the input's gradient is needed.
  std::vector<bool> wants_gradient;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_LAYER_H_
