#include "kernels/tensor/cuda/cuda_batch_norm_layer.h"

#include <vector>

#include "kernels/tensor/cuda/cuda_layer.h"
#include "kernels/tensor/cuda/passes/cuda_batch_norm.h"
#include "kernels/tensor/region_plan.h"

namespace grapevine {
namespace {

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
  // The shortcut's gradient is the output's past the ReLU; without a shortcut
  // the input's gradient takes its place.
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
    // The pass takes two gradients; the first ones of more are summed before.
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

std::unique_ptr<Layer> MakeCudaBatchNormLayer(CudaTensorContext& context,
                                              const BatchNormalization& operation,
                                              const LayerRequest& request) {
  return std::make_unique<BatchNormLayer>(context, operation, request);
}

}  // namespace grapevine
