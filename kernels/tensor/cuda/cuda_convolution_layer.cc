#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "kernels/tensor/cuda/cuda_layers.h"
#include "kernels/tensor/cuda/cuda_tensor_context.h"
#include "kernels/tensor/cuda/library/cudnn_graph.h"
#include "kernels/tensor/cuda/passes/cuda_tensor_passes.h"
#include "kernels/tensor/memory_plan.h"

namespace grapevine {
namespace {

using Pass = CudnnGraph::Pass;

// A plan that keeps its last few bindings, since the replicas of a few nodes take turns.
class RepeatedPlan {
 public:
  explicit RepeatedPlan(CudnnPlan plan) : plan_(std::move(plan)) {}

  int64_t workspace_bytes() const { return plan_.workspace_bytes(); }

  absl::Status Run(cudnnHandle_t handle, const std::vector<CudnnPlan::Argument>& arguments,
                   void* workspace) {
    for (const Bound& bound : bound_) {
      if (bound.workspace == workspace && bound.arguments == arguments) {
        return bound.call.Run(handle);
      }
    }
    ASSIGN_OR_RETURN(CudnnCall call, plan_.Bind(arguments, workspace));
    if (bound_.size() == kMaxBound) bound_.erase(bound_.begin());
    bound_.push_back({arguments, workspace, std::move(call)});
    return bound_.back().call.Run(handle);
  }

 private:
  static constexpr size_t kMaxBound = 4;
  struct Bound {
    std::vector<CudnnPlan::Argument> arguments;
    void* workspace;
    CudnnCall call;
  };

  CudnnPlan plan_;
  std::vector<Bound> bound_;
};

class ConvolutionLayer : public Layer {
 public:
  ConvolutionLayer(CudaTensorContext& context, const Convolution& operation,
                   const LayerRequest& request)
      : context_(context),
        operation_(operation),
        graphs_(operation, request.inputs[0]),
        output_matrix_{output().type, output().shape.n * output().shape.area(), output().shape.c},
        weights_{.name = "weights of a convolution",
                 .shape = graphs_.weights().shape,
                 .offset = operation.weight,
                 .type = output().type,
                 .gradient_type = output().type},
        bias_{.name = "bias of a convolution",
              .shape = {1, operation.outputs},
              .offset = operation.bias,
              .type = output().type,
              .gradient_type = output().type} {}

  absl::Status Plan(const LayerRequest& request) {
    RETURN_IF_ERROR(PlanForward());
    packed_weights_ = kept_.Reserve(graphs_.weights().bytes());
    packed_bias_ = kept_.Reserve(operation_.outputs * BytesOf(output().type));
    if (request.backward) {
      RETURN_IF_ERROR(PlanBackward(request));
    }
    int64_t workspace = forward_->workspace_bytes();
    for (const std::optional<RepeatedPlan>* plan : {&weights_gradient_, &input_gradient_}) {
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

  void Bind(const LayerTensors& tensors) override { tensors_ = tensors; }

  void Forward(const float* replica, float* gradient) override {
    std::vector<CudnnPlan::Argument> arguments = {
        {kInput, tensors_.inputs[0]},
        {kWeights, weights_.Pack(context_, replica, At(tensors_.kept, packed_weights_))},
        {kOutput, tensors_.output}};
    const void* bias = nullptr;
    if (has_bias()) bias = bias_.Pack(context_, replica, At(tensors_.kept, packed_bias_));
    if (fused_ && has_bias()) arguments.push_back({kBias, bias});
    Run(*forward_, arguments);
    if (!fused_) AddBiasAndRelu(context_, output(), bias, operation_.relu, tensors_.output);
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
    void* const packed = At(tensors_.scratch, packed_gradient_);
    Run(*weights_gradient_,
        {{kInput, tensors_.inputs[0]},
         {kWeights, weights_.GradientMemory(context_.loss_scaled(), gradient, packed)},
         {kOutput, dy}});
    weights_.UnpackGradient(context_, gradient, packed);
    if (tensors_.input_gradients[0] == nullptr) return;
    Run(*input_gradient_, {{kInput, tensors_.input_gradients[0]},
                           {kWeights, weights_.Memory(replica, At(tensors_.kept, packed_weights_))},
                           {kOutput, dy}});
  }

 private:
  bool has_bias() const { return operation_.bias != kNoOffset; }

  absl::Status PlanForward() {
    if (has_bias() || operation_.relu) {
      absl::StatusOr<CudnnPlan> plan = context_.Fastest(graphs_.Fused());
      if (plan.ok()) {
        forward_.emplace(*std::move(plan));
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

  absl::Status Take(CudnnGraph graph, std::optional<RepeatedPlan>* taken) {
    ASSIGN_OR_RETURN(CudnnPlan plan, context_.Fastest(std::move(graph)));
    taken->emplace(std::move(plan));
    return absl::OkStatus();
  }

  void Run(RepeatedPlan& plan, const std::vector<CudnnPlan::Argument>& arguments) {
    context_.Note(plan.Run(context_.cudnn(), arguments, At(tensors_.scratch, workspace_)));
  }

  CudaTensorContext& context_;
  const Convolution operation_;
  const ConvolutionGraphs graphs_;
  const ChannelMatrix output_matrix_;
  const ProductParameters weights_;
  const ProductParameters bias_;
  bool fused_ = true;
  std::optional<RepeatedPlan> forward_;
  std::optional<RepeatedPlan> weights_gradient_;
  std::optional<RepeatedPlan> input_gradient_;
  RegionPlan kept_{kCudaAlignment};
  int64_t packed_weights_ = 0;  // offsets in their regions
  int64_t packed_bias_ = 0;
  RegionPlan scratch_{kCudaAlignment};
  int64_t packed_gradient_ = 0;
  int64_t partial_sums_ = 0;
  int64_t workspace_ = 0;
  LayerTensors tensors_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Layer>> MakeCudaConvolutionLayer(CudaTensorContext& context,
                                                                const Convolution& operation,
                                                                const LayerRequest& request) {
  auto layer = std::make_unique<ConvolutionLayer>(context, operation, request);
  RETURN_IF_ERROR(layer->Plan(request));
  return layer;
}

}  // namespace grapevine
