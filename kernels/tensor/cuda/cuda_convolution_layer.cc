#include "kernels/tensor/cuda/cuda_convolution_layer.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/tensor/cuda/convolution_graphs.h"
#include "kernels/tensor/cuda/cuda_batch_norm.h"
#include "kernels/tensor/cuda/cuda_layer.h"
#include "kernels/tensor/cuda/cuda_weights.h"
#include "kernels/tensor/cuda/cudnn_graph.h"
#include "kernels/tensor/region_plan.h"

namespace grapevine {
namespace {

using Pass = CudnnGraph::Pass;

class ConvolutionLayer : public Layer {
 public:
  ConvolutionLayer(CudaTensorContext& context, const Convolution& operation,
                   const LayerRequest& request)
      : context_(context),
        operation_(operation),
        graphs_(operation, request.inputs[0]),
        output_matrix_{output().type, output().shape.n * output().shape.area(), output().shape.c} {}

  absl::Status Plan(const LayerRequest& request) {
    if (absl::Status status = PlanForward(); !status.ok()) return status;
    packed_weights_ = kept_.Reserve(graphs_.weights().bytes());
    packed_bias_ = kept_.Reserve(operation_.outputs * BytesOf(output().type));
    if (request.mode == Mode::kTraining) {
      if (absl::Status status = PlanBackward(request); !status.ok()) return status;
    }
    int64_t workspace = forward_->workspace_bytes();
    for (const std::optional<CudnnPlan>* plan : {&weights_gradient_, &input_gradient_}) {
      if (plan->has_value()) workspace = std::max(workspace, (*plan)->workspace_bytes());
    }
    workspace_ = scratch_.Reserve(workspace);
    return absl::OkStatus();
  }

  const TensorFormat& output() const override { return graphs_.output(); }
  int64_t kept_bytes() const override { return kept_.bytes(); }
  int64_t scratch_bytes() const override { return scratch_.bytes(); }
  bool backward_reads_inputs() const override { return true; }
  bool backward_reads_output() const override { return operation_.relu; }

  void Bind(const LayerTensors& tensors) override {
    tensors_ = tensors;
    void* const weights = At(tensors.kept, packed_weights_);
    const CudnnPlan::Argument x{kInput, tensors.inputs[0]};
    std::vector<CudnnPlan::Argument> arguments = {
        x, {kWeights, weights}, {kOutput, tensors.output}};
    if (fused_ && has_bias()) arguments.push_back({kBias, At(tensors.kept, packed_bias_)});
    forward_call_ = Call(*forward_, arguments);
    if (tensors.output_gradients.empty()) return;
    const CudnnPlan::Argument dy{kOutput, tensors.output_gradients[0]};
    if (weights_gradient_) {
      weights_gradient_call_ =
          Call(*weights_gradient_, {x, {kWeights, At(tensors.scratch, packed_gradient_)}, dy});
    }
    if (input_gradient_ && tensors.input_gradients[0] != nullptr) {
      input_gradient_call_ =
          Call(*input_gradient_, {{kInput, tensors.input_gradients[0]}, {kWeights, weights}, dy});
    }
  }

  void Forward(const float* replica, float* gradient) override {
    const cudaStream_t stream = context_.stream();
    void* const bias = At(tensors_.kept, packed_bias_);
    context_.Note(PackWeights(graphs_.weights().shape, replica + operation_.weight, output().type,
                              At(tensors_.kept, packed_weights_), stream),
                  "weights of a convolution");
    if (has_bias()) {
      context_.Note(PackWeights({1, operation_.outputs}, replica + operation_.bias, output().type,
                                bias, stream),
                    "bias of a convolution");
    }
    context_.Note(forward_call_.Run(context_.cudnn()));
    if (fused_) return;
    if (has_bias()) {
      context_.Note(CudaAddBias(output(), bias, operation_.relu, tensors_.output, stream),
                    "bias of a convolution");
    } else if (operation_.relu) {
      context_.Note(CudaElementwise(ElementwisePass::kRelu, output().type, tensors_.output, nullptr,
                                    output().size(), tensors_.output, stream),
                    "ReLU of a convolution");
    }
  }

  void Backward(const float* replica, float* gradient) override {
    const cudaStream_t stream = context_.stream();
    const void* const dy = GradientPastRelu(context_, tensors_, operation_.relu, output());
    if (has_bias()) {
      auto* const partial = reinterpret_cast<float*>(At(tensors_.scratch, partial_sums_));
      context_.Note(CudaBiasGradient(output_matrix_, dy, context_.loss_scaled(),
                                     gradient + operation_.bias, partial, stream),
                    "gradient of a convolution's bias");
    }
    context_.Note(weights_gradient_call_.Run(context_.cudnn()));
    context_.Note(UnpackGradient(graphs_.weights().shape, output().type,
                                 At(tensors_.scratch, packed_gradient_), context_.loss_scaled(),
                                 gradient + operation_.weight, stream),
                  "gradient of a convolution's weights");
    if (tensors_.input_gradients[0] != nullptr) {
      context_.Note(input_gradient_call_.Run(context_.cudnn()));
    }
  }

 private:
  bool has_bias() const { return operation_.bias != kNoOffset; }

  absl::Status PlanForward() {
    if (has_bias() || operation_.relu) {
      absl::StatusOr<CudnnPlan> plan = context_.FastestPlan(graphs_.Fused());
      if (plan.ok()) {
        forward_ = *std::move(plan);
        return absl::OkStatus();
      }
    }
    fused_ = false;
    return Take(graphs_.Product(Pass::kForward), &forward_);
  }

  absl::Status PlanBackward(const LayerRequest& request) {
    absl::Status status = Take(graphs_.Product(Pass::kFilterGradient), &weights_gradient_);
    if (status.ok() && request.wants_gradient[0]) {
      status = Take(graphs_.Product(Pass::kDataGradient), &input_gradient_);
    }
    packed_gradient_ = scratch_.Reserve(graphs_.weights().bytes());
    if (has_bias()) partial_sums_ = scratch_.Reserve(PartialSumBytes(output_matrix_));
    return status;
  }

  absl::Status Take(CudnnGraph graph, std::optional<CudnnPlan>* taken) {
    absl::StatusOr<CudnnPlan> plan = context_.FastestPlan(std::move(graph));
    if (!plan.ok()) return plan.status();
    *taken = *std::move(plan);
    return absl::OkStatus();
  }

  CudnnCall Call(const CudnnPlan& plan, const std::vector<CudnnPlan::Argument>& arguments) {
    absl::StatusOr<CudnnCall> call = plan.Bind(arguments, At(tensors_.scratch, workspace_));
    context_.Note(call.status());
    return call.ok() ? *std::move(call) : CudnnCall();
  }

  CudaTensorContext& context_;
  const Convolution operation_;
  const ConvolutionGraphs graphs_;
  const ChannelMatrix output_matrix_;
  bool fused_ = true;
  std::optional<CudnnPlan> forward_;
  std::optional<CudnnPlan> weights_gradient_;
  std::optional<CudnnPlan> input_gradient_;
  RegionPlan kept_{kCudaAlignment};
  int64_t packed_weights_ = 0;  // offsets in their regions
  int64_t packed_bias_ = 0;
  RegionPlan scratch_{kCudaAlignment};
  int64_t packed_gradient_ = 0;
  int64_t partial_sums_ = 0;
  int64_t workspace_ = 0;
  LayerTensors tensors_;
  CudnnCall forward_call_;
  CudnnCall weights_gradient_call_;
  CudnnCall input_gradient_call_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Layer>> MakeCudaConvolutionLayer(CudaTensorContext& context,
                                                                const Convolution& operation,
                                                                const LayerRequest& request) {
  auto layer = std::make_unique<ConvolutionLayer>(context, operation, request);
  if (absl::Status status = layer->Plan(request); !status.ok()) return status;
  return layer;
}

}  // namespace grapevine
