#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/tensor/cuda/cuda_layers.h"
#include "kernels/tensor/cuda/cuda_tensor_context.h"
#include "kernels/tensor/cuda/passes/cuda_tensor_passes.h"
#include "kernels/tensor/memory_plan.h"

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
        CudaPool(windows_, tensors_.inputs[0], tensors_.output, Positions(), context_.stream()),
        "pooling");
  }
  void Backward(const float* replica, float* gradient) override {
    if (tensors_.input_gradients[0] == nullptr) return;
    const void* const dy = GradientPastRelu(context_, tensors_, false, windows_.output);
    context_.Note(
        CudaPoolGradient(windows_, dy, Positions(), tensors_.input_gradients[0], context_.stream()),
        "gradient of pooling");
  }

 private:
  uint16_t* Positions() const {
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

class BatchNormLayer : public Layer {
 public:
  BatchNormLayer(CudaTensorContext& context, const BatchNormalization& operation,
                 const LayerRequest& request)
      : context_(context),
        operation_(operation),
        training_(request.mode == Mode::kTraining),
        has_shortcut_(request.inputs.size() > 1),
        output_(request.inputs[0]),
        matrix_{output_.type, output_.shape.n * output_.shape.area(), output_.shape.c} {
    const int64_t vector = matrix_.channels * BytesOf(ElementType::kFloat32);
    for (int64_t* offset : {&mean_, &inverse_deviation_, &scale_, &shift_}) {
      *offset = kept_.Reserve(vector);
    }
    for (int64_t* offset : {&b_, &c_}) *offset = scratch_.Reserve(vector);
    partial_sums_ = scratch_.Reserve(PartialSumBytes(matrix_));
  }

  const TensorFormat& output() const override { return output_; }
  int64_t kept_bytes() const override { return kept_.bytes(); }
  int64_t scratch_bytes() const override { return scratch_.bytes(); }
  bool backward_reads_inputs() const override { return true; }
  bool backward_reads_output() const override { return operation_.relu; }
  // The shortcut's gradient is that of the ReLU's input, and is written in place. Without a
  // shortcut, the input's gradient takes its place.
  bool shares_gradient(int input) const override { return input == (has_shortcut_ ? 1 : 0); }

  void Bind(const LayerTensors& tensors) override { tensors_ = tensors; }

  void Forward(const float* replica, float* gradient) override {
    const cudaStream_t stream = context_.stream();
    const ChannelParameters parameters{.weight = replica + operation_.weight,
                                       .bias = replica + operation_.bias,
                                       .epsilon = operation_.epsilon};
    const void* const x = tensors_.inputs[0];
    if (training_) {
      context_.Note(BatchCoefficients(matrix_, x, parameters, Coefficients(),
                                      gradient + operation_.running_mean,
                                      gradient + operation_.running_variance, Partial(), stream),
                    "statistics of a batch");
    } else {
      context_.Note(RunningCoefficients(matrix_.channels, replica + operation_.running_mean,
                                        replica + operation_.running_variance, parameters,
                                        Coefficients(), stream),
                    "running statistics");
    }
    context_.Note(CudaNormalize(matrix_,
                                {.x = x,
                                 .shortcut = has_shortcut_ ? tensors_.inputs[1] : nullptr,
                                 .y = tensors_.output,
                                 .relu = operation_.relu},
                                Coefficients(), stream),
                  "batch normalization");
  }

  void Backward(const float* replica, float* gradient) override {
    const cudaStream_t stream = context_.stream();
    // The pass takes two gradients. If there are more, all but the last are summed first.
    const std::vector<void*>& gradients = tensors_.output_gradients;
    const bool several = gradients.size() > 1;
    void* const g = SumGradients(context_, tensors_, gradients.size() - (several ? 1 : 0), output_);
    const void* const x = tensors_.inputs[0];
    const InputCoefficients input{.b = Vector(tensors_.scratch, b_),
                                  .c = Vector(tensors_.scratch, c_)};
    context_.Note(CudaGradientSums(matrix_,
                                   {.x = x,
                                    .y = operation_.relu ? tensors_.output : nullptr,
                                    .dy = g,
                                    .dy2 = several ? gradients.back() : nullptr},
                                   Coefficients(), input, context_.loss_scaled(),
                                   gradient + operation_.weight, gradient + operation_.bias,
                                   Partial(), stream),
                  "gradient of batch normalization");
    if (tensors_.input_gradients[0] == nullptr) return;
    context_.Note(CudaInputGradient(matrix_, x, g, Coefficients(), input,
                                    tensors_.input_gradients[0], stream),
                  "gradient of batch normalization");
  }

 private:
  static float* Vector(void* region, int64_t offset) {
    return reinterpret_cast<float*>(At(region, offset));
  }
  ChannelCoefficients Coefficients() const {
    void* const kept = tensors_.kept;
    return {Vector(kept, mean_), Vector(kept, inverse_deviation_), Vector(kept, scale_),
            Vector(kept, shift_)};
  }
  float* Partial() const { return Vector(tensors_.scratch, partial_sums_); }

  CudaTensorContext& context_;
  const BatchNormalization operation_;
  const bool training_;
  const bool has_shortcut_;
  const TensorFormat output_;
  const ChannelMatrix matrix_;
  RegionPlan kept_{kCudaAlignment};
  int64_t mean_ = 0;  // offsets in their regions
  int64_t inverse_deviation_ = 0;
  int64_t scale_ = 0;
  int64_t shift_ = 0;
  RegionPlan scratch_{kCudaAlignment};
  int64_t b_ = 0;
  int64_t c_ = 0;
  int64_t partial_sums_ = 0;
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

std::unique_ptr<Layer> MakeCudaBatchNormLayer(CudaTensorContext& context,
                                              const BatchNormalization& operation,
                                              const LayerRequest& request) {
  return std::make_unique<BatchNormLayer>(context, operation, request);
}

}  // namespace grapevine
