#include "kernels/tensor/cuda/cuda_inner_product_layer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "kernels/tensor/cuda/blas_matmul.h"
#include "kernels/tensor/cuda/cuda_layer.h"
#include "kernels/tensor/cuda/passes/cuda_batch_norm.h"
#include "kernels/tensor/memory_plan.h"

namespace grapevine {
namespace {

// With x (n, k), w (o, k) and y (n, o) as they lie, row by row, cuBLASLt sees their
// transposes: y^T = w x^T, dx^T = w^T dy^T, dw^T = x^T dy.
class InnerProductLayer : public Layer {
 public:
  InnerProductLayer(CudaTensorContext& context, const InnerProduct& operation,
                    const LayerRequest& request)
      : context_(context),
        operation_(operation),
        input_(request.inputs[0]),
        output_{{input_.shape.n, operation.outputs}, Layout::kNhwc, input_.type},
        output_matrix_{output_.type, output_.shape.n, output_.shape.c},
        weights_{.name = "weights of an inner product",
                 .shape = {operation.outputs, input_.shape.c, input_.shape.h, input_.shape.w},
                 .offset = operation.weight,
                 .type = input_.type,
                 .gradient_type = ElementType::kFloat32},
        bias_{.name = "bias of an inner product",
              .shape = {1, operation.outputs},
              .offset = operation.bias,
              .type = input_.type,
              .gradient_type = ElementType::kFloat32} {}

  absl::Status Plan(const LayerRequest& request) {
    absl::Status status = PlanForward();
    packed_weights_ = kept_.Reserve(weights_.shape.size() * BytesOf(input_.type));
    packed_bias_ = kept_.Reserve(operation_.outputs * BytesOf(input_.type));
    if (status.ok() && request.backward) status = PlanBackward(request);
    RETURN_IF_ERROR(status);
    int64_t workspace = 0;
    for (const std::optional<BlasMatmul>* product :
         {&forward_, &weights_gradient_, &input_gradient_}) {
      if (product->has_value()) workspace = std::max(workspace, (*product)->workspace_bytes());
    }
    workspace_ = scratch_.Reserve(workspace);
    return absl::OkStatus();
  }

  const TensorFormat& output() const override { return output_; }
  int64_t kept_bytes() const override { return kept_.bytes(); }
  int64_t scratch_bytes() const override { return scratch_.bytes(); }
  bool backward_reads_inputs() const override { return true; }
  bool backward_reads_output() const override { return operation_.relu; }
  void Bind(const LayerTensors& tensors) override { tensors_ = tensors; }

  void Forward(const float* replica, float* gradient) override {
    const void* const weights =
        weights_.Pack(context_, replica, At(tensors_.kept, packed_weights_));
    const void* bias = nullptr;
    if (has_bias()) bias = bias_.Pack(context_, replica, At(tensors_.kept, packed_bias_));
    context_.Note(forward_->Run({.a = weights,
                                 .b = tensors_.inputs[0],
                                 .d = tensors_.output,
                                 .bias = bias,
                                 .workspace = At(tensors_.scratch, workspace_)}));
    const void* const missing_bias = fused_forward_ ? nullptr : bias;
    AddBiasAndRelu(context_, output_, missing_bias, operation_.relu, tensors_.output);
  }

  void Backward(const float* replica, float* gradient) override {
    const void* const dy = GradientPastRelu(context_, tensors_, operation_.relu, output_);
    const LossScaled& scaled = context_.loss_scaled();
    void* const packed = At(tensors_.scratch, packed_gradient_);
    void* const packed_bias = At(tensors_.scratch, bias_gradient_);
    const void* bias = nullptr;
    if (has_bias()) bias = bias_.GradientMemory(scaled, gradient, packed_bias);
    context_.Note(weights_gradient_->Run({.a = tensors_.inputs[0],
                                          .b = dy,
                                          .d = weights_.GradientMemory(scaled, gradient, packed),
                                          .bias = bias,
                                          .workspace = At(tensors_.scratch, workspace_)}));
    weights_.UnpackGradient(context_, gradient, packed);
    if (has_bias()) WriteBiasGradient(dy, gradient, packed_bias);
    if (tensors_.input_gradients[0] == nullptr) return;
    context_.Note(
        input_gradient_->Run({.a = weights_.Memory(replica, At(tensors_.kept, packed_weights_)),
                              .b = dy,
                              .d = tensors_.input_gradients[0],
                              .workspace = At(tensors_.scratch, workspace_)}));
  }

 private:
  bool has_bias() const { return operation_.bias != kNoOffset; }

  BlasMatrix Weights() const {
    return {input_.type, weights_.shape.size() / weights_.shape.n, operation_.outputs};
  }
  BlasMatrix Input() const {
    return {input_.type, weights_.shape.size() / weights_.shape.n, input_.shape.n};
  }
  BlasMatrix Output() const { return {output_.type, operation_.outputs, input_.shape.n}; }

  std::string Name(std::string_view pass) const {
    return absl::StrCat("inner product of ", ToString(input_), " to ", operation_.outputs, ", ",
                        std::string(pass));
  }

  // The product with the epilogue; where there is no algorithm for that, alone.
  absl::Status Take(BlasProduct product, cublasLtEpilogue_t epilogue,
                    std::optional<BlasMatmul>* taken, bool* fused) {
    const std::string name = product.name;
    const int64_t bias_size = product.bias_size;
    for (const bool attempt : {true, false}) {
      product.epilogue = attempt ? epilogue : CUBLASLT_EPILOGUE_DEFAULT;
      product.bias_size = attempt ? bias_size : 0;
      product.name = absl::StrCat(name, attempt ? absl::StrCat(", epilogue ", epilogue) : "");
      absl::StatusOr<BlasMatmul> made = BlasMatmul::Make(context_, product);
      if (!made.ok() && attempt && epilogue != CUBLASLT_EPILOGUE_DEFAULT) continue;
      if (!made.ok()) return made.status();
      *taken = *std::move(made);
      *fused = attempt;
      break;
    }
    return absl::OkStatus();
  }

  absl::Status PlanForward() {
    // cuBLASLt's ReLU may drop a NaN: ours runs behind it.
    const cublasLtEpilogue_t epilogue =
        has_bias() ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    BlasMatrix weights = Weights();
    weights.transposed = true;
    return Take({.name = Name("forward"),
                 .a = weights,
                 .b = Input(),
                 .d = Output(),
                 .bias = output_.type,
                 .bias_size = has_bias() ? operation_.outputs : 0},
                epilogue, &forward_, &fused_forward_);
  }

  // The gradient of the weights is summed and written in fp32.
  absl::Status PlanBackward(const LayerRequest& request) {
    packed_gradient_ = scratch_.Reserve(weights_.shape.size() * BytesOf(ElementType::kFloat32));
    bias_gradient_ = scratch_.Reserve(operation_.outputs * BytesOf(ElementType::kFloat32));
    partial_sums_ = scratch_.Reserve(PartialSumBytes(output_matrix_));
    BlasMatrix dy = Output();
    dy.transposed = true;
    BlasMatrix dw = Weights();
    dw.type = ElementType::kFloat32;
    absl::Status status = Take({.name = Name("gradient of the weights"),
                                .a = Input(),
                                .b = dy,
                                .d = dw,
                                .bias = ElementType::kFloat32,
                                .bias_size = has_bias() ? operation_.outputs : 0},
                               has_bias() ? CUBLASLT_EPILOGUE_BGRADB : CUBLASLT_EPILOGUE_DEFAULT,
                               &weights_gradient_, &fused_bias_gradient_);
    if (!status.ok() || !request.wants_gradient[0]) return status;
    bool fused = false;
    return Take(
        {.name = Name("gradient of the input"), .a = Weights(), .b = Output(), .d = Input()},
        CUBLASLT_EPILOGUE_DEFAULT, &input_gradient_, &fused);
  }

  void WriteBiasGradient(const void* dy, float* gradient, void* packed) {
    if (fused_bias_gradient_) {
      bias_.UnpackGradient(context_, gradient, packed);
      return;
    }
    auto* const partial = reinterpret_cast<float*>(At(tensors_.scratch, partial_sums_));
    context_.Note(CudaBiasGradient(output_matrix_, dy, context_.loss_scaled(),
                                   gradient + operation_.bias, partial, context_.stream()),
                  "gradient of an inner product's bias");
  }

  CudaTensorContext& context_;
  const InnerProduct operation_;
  const TensorFormat input_;
  const TensorFormat output_;
  const ChannelMatrix output_matrix_;
  const ProductParameters weights_;
  const ProductParameters bias_;
  bool fused_forward_ = false;
  bool fused_bias_gradient_ = false;
  std::optional<BlasMatmul> forward_;
  std::optional<BlasMatmul> weights_gradient_;
  std::optional<BlasMatmul> input_gradient_;
  RegionPlan kept_{kCudaAlignment};
  int64_t packed_weights_ = 0;  // offsets in their regions
  int64_t packed_bias_ = 0;
  RegionPlan scratch_{kCudaAlignment};
  int64_t packed_gradient_ = 0;
  int64_t bias_gradient_ = 0;
  int64_t partial_sums_ = 0;
  int64_t workspace_ = 0;
  LayerTensors tensors_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Layer>> MakeCudaInnerProductLayer(CudaTensorContext& context,
                                                                 const InnerProduct& operation,
                                                                 const LayerRequest& request) {
  auto layer = std::make_unique<InnerProductLayer>(context, operation, request);
  RETURN_IF_ERROR(layer->Plan(request));
  return layer;
}

}  // namespace grapevine
