#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/tensor/cpu/cpu_layers.h"
#include "kernels/tensor/cpu/onednn.h"
#include "kernels/tensor/cpu/passes.h"

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

// Converts the second summand into the layout of the first.
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

// Copies the surviving pixels, each as rows of contiguous channels.
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
  // The order of a sample in memory: blocks, then pixels, then channels.
  struct Order {
    int64_t blocks;
    int64_t channels;  // contiguous channels at a pixel
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

// Returns the format in which the passes work: the input's format if it has blocks.
TensorFormat WorkingFormat(const TensorFormat& input) {
  if (BlocksOf(input).has_value()) return input;
  return {input.shape, Layout::kNchw16c};
}

class BatchNormLayer : public Layer {
 public:
  BatchNormLayer(const BatchNormalization& operation, const LayerRequest& request)
      : operation_(operation),
        training_(request.mode == Mode::kTraining),
        channels_(request.inputs[0].shape.c),
        output_(WorkingFormat(request.inputs[0])),
        blocks_(*BlocksOf(output_)),
        has_shortcut_(request.inputs.size() > 1),
        mean_(blocks_.lanes()),
        inverse_deviation_(blocks_.lanes()),
        scale_(blocks_.lanes()),
        shift_(blocks_.lanes()),
        offset_(blocks_.lanes()) {
    for (const TensorFormat& input : request.inputs) {
      to_blocks_.emplace_back(Descriptor(input), Descriptor(output_));
      copy_.push_back(kept_.Reserve(to_blocks_.back().to_bytes()));
      from_blocks_.emplace_back(Descriptor(output_), Descriptor(input));
    }
    gradient_copy_ = scratch_.Reserve(from_blocks_[0].from_bytes());
  }

  const TensorFormat& output() const override { return output_; }
  int64_t kept_bytes() const override { return kept_.bytes(); }
  int64_t scratch_bytes() const override { return scratch_.bytes(); }
  bool backward_reads_inputs() const override { return true; }
  bool backward_reads_output() const override { return operation_.relu; }
  // The shortcut's gradient is that of the ReLU's input, and is written in place. Without a
  // shortcut, the input's gradient takes its place.
  bool shares_gradient(int input) const override {
    return input == (has_shortcut_ ? 1 : 0) && !from_blocks_[input].needed();
  }

  void Bind(const LayerTensors& tensors) override { tensors_ = AsFloats(tensors); }

  void Forward(const float* replica, float* gradient) override {
    const float* x = Input(0);
    if (training_) {
      BatchStatistics(x, gradient);
    } else {
      RunningStatistics(replica);
    }
    ScaleAndShift(replica);
    Normalize(blocks_, {.x = x,
                        .scale = scale_.data(),
                        .shift = shift_.data(),
                        .shortcut = has_shortcut_ ? Input(1) : nullptr,
                        .y = tensors_.output,
                        .relu = operation_.relu});
  }

  void Backward(const float* replica, float* gradient) override {
    // The passes take two gradients. If there are more, all but the last are summed first.
    auto gradients = std::span<float* const>(tensors_.output_gradients);
    float* g = gradients[0];
    const float* second = gradients.size() > 1 ? gradients.back() : nullptr;
    if (gradients.size() > 2)
      SumInto(g, gradients.subspan(1, gradients.size() - 2), output_.size());
    const float* x = ForwardInput(0);
    GradientSums(blocks_,
                 {.x = x,
                  .y = operation_.relu ? tensors_.output : nullptr,
                  .dy = g,
                  .dy2 = second,
                  .mean = mean_.data()},
                 shift_.data(), offset_.data());
    Coefficients(replica, gradient);
    if (tensors_.input_gradients[0] != nullptr) WriteInputGradient(x, g);
    if (has_shortcut_ && tensors_.input_gradients[1] != nullptr) WriteShortcutGradient(g);
  }

 private:
  // Returns the input, converted if its layout has no blocks.
  const float* Input(int i) {
    return static_cast<const float*>(
        to_blocks_[i].Run(tensors_.inputs[i], At(tensors_.kept, copy_[i])));
  }
  // Returns the address that Input returned, without converting again.
  const float* ForwardInput(int i) const {
    if (!to_blocks_[i].needed()) return tensors_.inputs[i];
    return reinterpret_cast<const float*>(At(tensors_.kept, copy_[i]));
  }

  void BatchStatistics(const float* x, float* gradient) {
    std::vector<float>& deviation = inverse_deviation_;
    ChannelMoments(blocks_, x, mean_.data(), deviation.data());
    const double count = static_cast<double>(blocks_.count());
    for (int64_t c = 0; c < channels_; ++c) {
      gradient[operation_.running_mean + c] = mean_[c];
      // A single value has no unbiased variance. PyTorch refuses it; we take the biased variance.
      gradient[operation_.running_variance + c] =
          static_cast<float>(deviation[c] / (count > 1 ? count - 1 : 1));
      SetInverseDeviation(c, deviation[c] / count);
    }
  }

  void RunningStatistics(const float* replica) {
    for (int64_t c = 0; c < channels_; ++c) {
      mean_[c] = replica[operation_.running_mean + c];
      SetInverseDeviation(c, replica[operation_.running_variance + c]);
    }
  }

  void SetInverseDeviation(int64_t c, double variance) {
    inverse_deviation_[c] = static_cast<float>(1 / std::sqrt(variance + operation_.epsilon));
  }

  void ScaleAndShift(const float* replica) {
    for (int64_t c = 0; c < channels_; ++c) {
      scale_[c] = replica[operation_.weight + c] * inverse_deviation_[c];
      shift_[c] = replica[operation_.bias + c] - mean_[c] * scale_[c];
    }
    // Padding channels stay zero.
    for (int64_t c = channels_; c < blocks_.lanes(); ++c) scale_[c] = shift_[c] = mean_[c] = 0;
  }

  // Computes the gradients of weight and bias, and the coefficients of
  // dx = scale * g + shift * (x - mean) + offset, from the sums in shift_ and offset_.
  void Coefficients(const float* replica, float* gradient) {
    const float count = static_cast<float>(blocks_.count());
    for (int64_t c = 0; c < channels_; ++c) {
      const float inverse = inverse_deviation_[c];
      const float sum = shift_[c];
      const float dot = offset_[c] * inverse;
      gradient[operation_.bias + c] = sum;
      gradient[operation_.weight + c] = dot;
      shift_[c] = -scale_[c] * inverse * dot / count;
      offset_[c] = -scale_[c] * sum / count;
    }
    for (int64_t c = channels_; c < blocks_.lanes(); ++c) shift_[c] = offset_[c] = 0;
  }

  void WriteInputGradient(const float* x, const float* g) {
    float* wanted = tensors_.input_gradients[0];
    float* dx = from_blocks_[0].needed()
                    ? reinterpret_cast<float*>(At(tensors_.scratch, gradient_copy_))
                    : wanted;
    InputGradient(blocks_, {.x = x,
                            .g = g,
                            .mean = mean_.data(),
                            .a = scale_.data(),
                            .b = shift_.data(),
                            .c = offset_.data(),
                            .dx = dx});
    from_blocks_[0].Run(dx, wanted);
  }

  void WriteShortcutGradient(const float* g) {
    from_blocks_[1].Run(g, tensors_.input_gradients[1]);
  }

  const BatchNormalization operation_;
  const bool training_;
  const int64_t channels_;
  const TensorFormat output_;
  const ChannelBlocks blocks_;
  const bool has_shortcut_;
  RegionPlan kept_;
  RegionPlan scratch_;
  std::vector<Conversion> to_blocks_;    // conversions of the inputs
  std::vector<Conversion> from_blocks_;  // conversions of the inputs' gradients
  std::vector<int64_t> copy_;
  int64_t gradient_copy_ = 0;
  FloatTensors tensors_;
  // These hold one value per lane. Backward reuses shift_ and offset_ for its sums.
  std::vector<float> mean_;
  std::vector<float> inverse_deviation_;
  std::vector<float> scale_;
  std::vector<float> shift_;
  std::vector<float> offset_;
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

absl::StatusOr<std::unique_ptr<Layer>> MakeBatchNormLayer(const BatchNormalization& operation,
                                                          const LayerRequest& request) {
  return CatchOneDnn("batch normalization",
                     [&] { return std::make_unique<BatchNormLayer>(operation, request); });
}

}  // namespace grapevine
