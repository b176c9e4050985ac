#include "kernels/tensor/cpu/elementwise_layers.h"

#include <algorithm>
#include <cstring>

#include "kernels/tensor/cpu/elementwise.h"
#include "kernels/tensor/cpu/onednn.h"

namespace grapevine {
namespace {

class ReluLayer : public Layer {
 public:
  explicit ReluLayer(const LayerRequest& request) : output_(request.inputs[0]) {}

  const TensorFormat& output() const override { return output_; }
  bool backward_reads_output() const override { return true; }
  bool shares_gradient(int input) const override { return true; }
  void Bind(const LayerTensors& tensors) override { tensors_ = AsFloats(tensors); }

  void Forward(const float* replica, float* gradient) override {
    ReluInto(tensors_.inputs[0], tensors_.output, output_.size());
  }
  void Backward(const float* replica, float* gradient) override {
    float* dy = tensors_.output_gradients[0];
    SumInto(dy, std::span<float* const>(tensors_.output_gradients).subspan(1), output_.size());
    MaskByOutput(tensors_.output, dy, output_.size());
  }

 private:
  const TensorFormat output_;
  FloatTensors tensors_;
};

// The second summand is brought into the layout of the first.
class AddLayer : public Layer {
 public:
  AddLayer(const Add& operation, const LayerRequest& request)
      : relu_(operation.relu),
        output_(request.inputs[0]),
        to_output_(Descriptor(request.inputs[1]), Descriptor(output_)),
        from_output_(Descriptor(output_), Descriptor(request.inputs[1])) {}

  const TensorFormat& output() const override { return output_; }
  int64_t scratch_bytes() const override { return to_output_.to_bytes(); }
  bool backward_reads_output() const override { return relu_; }
  bool shares_gradient(int input) const override { return input == 0; }
  void Bind(const LayerTensors& tensors) override { tensors_ = AsFloats(tensors); }

  void Forward(const float* replica, float* gradient) override {
    const void* second = to_output_.Run(tensors_.inputs[1], tensors_.scratch);
    AddInto(tensors_.inputs[0], static_cast<const float*>(second), relu_, tensors_.output,
            output_.size());
  }
  void Backward(const float* replica, float* gradient) override {
    float* dy = tensors_.output_gradients[0];
    SumInto(dy, std::span<float* const>(tensors_.output_gradients).subspan(1), output_.size());
    if (relu_) MaskByOutput(tensors_.output, dy, output_.size());
    float* wanted = tensors_.input_gradients[1];
    if (wanted == nullptr) return;
    if (from_output_.Run(dy, wanted) == dy) std::memcpy(wanted, dy, output_.bytes());
  }

 private:
  const bool relu_;
  const TensorFormat output_;
  Conversion to_output_;
  Conversion from_output_;
  FloatTensors tensors_;
};

// Rows of contiguous channels: what a pixel's copy moves at once.
class SubsampleLayer : public Layer {
 public:
  SubsampleLayer(const Subsample& operation, const LayerRequest& request)
      : stride_(operation.stride), input_(request.inputs[0]) {
    const TensorShape& x = input_.shape;
    output_ = {
        {x.n, operation.channels, (x.h + stride_ - 1) / stride_, (x.w + stride_ - 1) / stride_},
        input_.layout};
  }

  const TensorFormat& output() const override { return output_; }
  void Bind(const LayerTensors& tensors) override { tensors_ = AsFloats(tensors); }

  void Forward(const float* replica, float* gradient) override {
    std::fill_n(tensors_.output, output_.size(), 0.0f);
    ForEachPixel([&](int64_t from, int64_t to, int64_t channels) {
      std::memcpy(tensors_.output + to, tensors_.inputs[0] + from, channels * sizeof(float));
    });
  }
  void Backward(const float* replica, float* gradient) override {
    float* dx = tensors_.input_gradients[0];
    if (dx == nullptr) return;
    float* dy = tensors_.output_gradients[0];
    SumInto(dy, std::span<float* const>(tensors_.output_gradients).subspan(1), output_.size());
    std::fill_n(dx, input_.size(), 0.0f);
    ForEachPixel([&](int64_t from, int64_t to, int64_t channels) {
      std::memcpy(dx + from, dy + to, channels * sizeof(float));
    });
  }

 private:
  // How a layout orders a sample: blocks, then pixels, then channels.
  struct Order {
    int64_t blocks;
    int64_t channels;  // contiguous at a pixel
  };
  static Order OrderOf(const TensorFormat& format) {
    if (format.layout == Layout::kNhwc) return {1, format.shape.c};
    const int64_t block = BlockChannels(format.layout);
    return {(format.shape.c + block - 1) / block, block};
  }

  // Calls copy(input offset, output offset, channels) for each surviving pixel.
  template <typename Copy>
  void ForEachPixel(const Copy& copy) const {
    const Order in = OrderOf(input_);
    const Order out = OrderOf(output_);
    const TensorShape& x = input_.shape;
    const TensorShape& y = output_.shape;
    const int64_t channels = std::min(in.channels, out.channels);
    for (int64_t n = 0; n < x.n; ++n) {
      for (int64_t b = 0; b < std::min(in.blocks, out.blocks); ++b) {
        for (int64_t h = 0; h < y.h; ++h) {
          for (int64_t w = 0; w < y.w; ++w) {
            const int64_t from =
                ((n * in.blocks + b) * x.area() + h * stride_ * x.w + w * stride_) * in.channels;
            const int64_t to = ((n * out.blocks + b) * y.area() + h * y.w + w) * out.channels;
            copy(from, to, channels);
          }
        }
      }
    }
  }

  const int64_t stride_;
  const TensorFormat input_;
  TensorFormat output_;
  FloatTensors tensors_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Layer>> MakeReluLayer(const LayerRequest& request) {
  return std::make_unique<ReluLayer>(request);
}

absl::StatusOr<std::unique_ptr<Layer>> MakeAddLayer(const Add& operation,
                                                    const LayerRequest& request) {
  return CatchOneDnn("addition", [&] { return std::make_unique<AddLayer>(operation, request); });
}

absl::StatusOr<std::unique_ptr<Layer>> MakeSubsampleLayer(const Subsample& operation,
                                                          const LayerRequest& request) {
  return std::make_unique<SubsampleLayer>(operation, request);
}

}  // namespace grapevine
