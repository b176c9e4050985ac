#include "kernels/tensor/cuda/cuda_small_layers.h"

#include "absl/strings/str_cat.h"
#include "kernels/tensor/cuda/cuda_layer.h"
#include "kernels/tensor/cuda/passes/cuda_elementwise.h"
#include "kernels/tensor/cuda/passes/cuda_pooling.h"

namespace grapevine {
namespace {

class PoolingLayer : public Layer {
 public:
  PoolingLayer(CudaTensorContext& context, const PoolingWindows& windows, Mode mode)
      : context_(context),
        windows_(windows),
        keeps_places_(mode == Mode::kTraining && windows.kind == Pooling::Kind::kMax) {}

  const TensorFormat& output() const override { return windows_.output; }
  int64_t kept_bytes() const override {
    return keeps_places_ ? windows_.output.size() * static_cast<int64_t>(sizeof(uint16_t)) : 0;
  }
  void Bind(const LayerTensors& tensors) override { tensors_ = tensors; }

  void Forward(const float* replica, float* gradient) override {
    context_.Note(
        CudaPool(windows_, tensors_.inputs[0], tensors_.output, Places(), context_.stream()),
        "pooling");
  }
  void Backward(const float* replica, float* gradient) override {
    if (tensors_.input_gradients[0] == nullptr) return;
    const void* const dy = GradientPastRelu(context_, tensors_, false, windows_.output);
    context_.Note(
        CudaPoolGradient(windows_, dy, Places(), tensors_.input_gradients[0], context_.stream()),
        "gradient of pooling");
  }

 private:
  uint16_t* Places() const {
    return keeps_places_ ? static_cast<uint16_t*>(tensors_.kept) : nullptr;
  }

  CudaTensorContext& context_;
  const PoolingWindows windows_;
  const bool keeps_places_;
  LayerTensors tensors_;
};

class ReluLayer : public Layer {
 public:
  ReluLayer(CudaTensorContext& context, const LayerRequest& request)
      : context_(context), output_(request.inputs[0]) {}

  const TensorFormat& output() const override { return output_; }
  bool backward_reads_output() const override { return true; }
  bool shares_gradient(int input) const override { return true; }
  void Bind(const LayerTensors& tensors) override { tensors_ = tensors; }

  void Forward(const float* replica, float* gradient) override {
    context_.Note(CudaElementwise(ElementwisePass::kRelu, output_.type, tensors_.inputs[0], nullptr,
                                  output_.size(), tensors_.output, context_.stream()),
                  "ReLU");
  }
  void Backward(const float* replica, float* gradient) override {
    GradientPastRelu(context_, tensors_, true, output_);
  }

 private:
  CudaTensorContext& context_;
  const TensorFormat output_;
  LayerTensors tensors_;
};

class AddLayer : public Layer {
 public:
  AddLayer(CudaTensorContext& context, const Add& operation, const LayerRequest& request)
      : context_(context), relu_(operation.relu), output_(request.inputs[0]) {}

  const TensorFormat& output() const override { return output_; }
  bool backward_reads_output() const override { return relu_; }
  bool shares_gradient(int input) const override { return input == 0; }
  void Bind(const LayerTensors& tensors) override { tensors_ = tensors; }

  void Forward(const float* replica, float* gradient) override {
    context_.Note(CudaElementwise(relu_ ? ElementwisePass::kAddRelu : ElementwisePass::kAdd,
                                  output_.type, tensors_.inputs[0], tensors_.inputs[1],
                                  output_.size(), tensors_.output, context_.stream()),
                  "addition");
  }
  void Backward(const float* replica, float* gradient) override {
    const void* const dy = GradientPastRelu(context_, tensors_, relu_, output_);
    void* const wanted = tensors_.input_gradients[1];
    if (wanted == nullptr) return;
    context_.Note(cudaMemcpyAsync(wanted, dy, static_cast<size_t>(output_.bytes()),
                                  cudaMemcpyDeviceToDevice, context_.stream()),
                  "gradient of an addition");
  }

 private:
  CudaTensorContext& context_;
  const bool relu_;
  const TensorFormat output_;
  LayerTensors tensors_;
};

class SubsampleLayer : public Layer {
 public:
  SubsampleLayer(CudaTensorContext& context, const Subsample& operation,
                 const LayerRequest& request)
      : context_(context),
        stride_(operation.stride),
        input_(request.inputs[0]),
        output_(request.inputs[0]) {
    const TensorShape& x = input_.shape;
    output_.shape = {x.n, operation.channels, (x.h + stride_ - 1) / stride_,
                     (x.w + stride_ - 1) / stride_};
  }

  const TensorFormat& output() const override { return output_; }
  void Bind(const LayerTensors& tensors) override { tensors_ = tensors; }

  void Forward(const float* replica, float* gradient) override {
    context_.Note(CudaSubsample(input_, output_, stride_, tensors_.inputs[0], tensors_.output,
                                context_.stream()),
                  "shortcut");
  }
  void Backward(const float* replica, float* gradient) override {
    if (tensors_.input_gradients[0] == nullptr) return;
    const void* const dy = GradientPastRelu(context_, tensors_, false, output_);
    context_.Note(CudaSubsampleGradient(input_, output_, stride_, dy, tensors_.input_gradients[0],
                                        context_.stream()),
                  "gradient of a shortcut");
  }

 private:
  CudaTensorContext& context_;
  const int64_t stride_;
  const TensorFormat input_;
  TensorFormat output_;
  LayerTensors tensors_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Layer>> MakeCudaPoolingLayer(CudaTensorContext& context,
                                                            const Pooling& operation,
                                                            const LayerRequest& request) {
  constexpr int64_t kMaxPositions = 65536;
  const TensorFormat& input = request.inputs[0];
  PoolingWindows windows{.input = input,
                         .output = input,
                         .kind = operation.kind,
                         .kernel_h = operation.kernel == 0 ? input.shape.h : operation.kernel,
                         .kernel_w = operation.kernel == 0 ? input.shape.w : operation.kernel,
                         .stride = operation.stride,
                         .padding = operation.padding};
  if (windows.kernel_h * windows.kernel_w > kMaxPositions) {
    return absl::InvalidArgumentError(absl::StrCat("pooling of ", ToString(input), ": a window of ",
                                                   windows.kernel_h, "x", windows.kernel_w,
                                                   " is larger than ", kMaxPositions));
  }
  const auto extent = [&](int64_t size, int64_t window) {
    return (size + 2 * operation.padding - window) / operation.stride + 1;
  };
  windows.output.shape.h = extent(input.shape.h, windows.kernel_h);
  windows.output.shape.w = extent(input.shape.w, windows.kernel_w);
  return std::make_unique<PoolingLayer>(context, windows, request.mode);
}

std::unique_ptr<Layer> MakeCudaReluLayer(CudaTensorContext& context, const LayerRequest& request) {
  return std::make_unique<ReluLayer>(context, request);
}

std::unique_ptr<Layer> MakeCudaAddLayer(CudaTensorContext& context, const Add& operation,
                                        const LayerRequest& request) {
  return std::make_unique<AddLayer>(context, operation, request);
}

std::unique_ptr<Layer> MakeCudaSubsampleLayer(CudaTensorContext& context,
                                              const Subsample& operation,
                                              const LayerRequest& request) {
  return std::make_unique<SubsampleLayer>(context, operation, request);
}

}  // namespace grapevine
