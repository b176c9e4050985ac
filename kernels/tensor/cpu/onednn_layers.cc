#include <algorithm>
#include <cstdint>
#include <optional>

#include "kernels/tensor/cpu/cpu_layers.h"
#include "kernels/tensor/cpu/onednn.h"
#include "kernels/tensor/cpu/passes.h"

namespace grapevine {
namespace {

using dnnl::memory;
using dnnl::prop_kind;

// The primitives of a linear map, and the formats that they chose.
struct LinearPrimitives {
  struct Forward {
    dnnl::primitive primitive;
    dnnl::memory::desc source, weights, destination, scratchpad;
  };
  struct BackwardWeights {
    dnnl::primitive primitive;
    dnnl::memory::desc source, weights_gradient, destination_gradient, scratchpad;
  };
  struct BackwardData {
    dnnl::primitive primitive;
    dnnl::memory::desc source_gradient, weights, destination_gradient, scratchpad;
  };
  Forward forward;
  std::optional<BackwardWeights> backward_weights;
  std::optional<BackwardData> backward_data;
};

// The formats of a linear map's tensors outside the layer.
struct LinearFormats {
  dnnl::memory::desc input;
  dnnl::memory::desc weights;  // as in the replica
  dnnl::memory::desc output_memory;
  TensorFormat output;
  int64_t outputs = 0;
};

struct LinearWeights {
  int64_t weight = kNoOffset;  // offsets in the replica
  int64_t bias = kNoOffset;
  bool relu = false;
};

// A linear map with weights, a bias and optionally a ReLU, computed by three oneDNN primitives:
// a convolution or an inner product.
class WeightedLayer : public Layer {
 public:
  WeightedLayer(const LinearPrimitives& p, const LinearFormats& formats,
                const LinearWeights& weights)
      : formats_(formats), weights_(weights) {
    PlanForward(p.forward);
    if (p.backward_weights) PlanBackwardWeights(*p.backward_weights, p.forward);
    if (p.backward_data) PlanBackwardData(*p.backward_data);
  }

  const TensorFormat& output() const override { return formats_.output; }
  int64_t kept_bytes() const override { return kept_.bytes(); }
  int64_t scratch_bytes() const override {
    return std::max({forward_scratch_.bytes(), weights_scratch_.bytes(), data_scratch_.bytes()});
  }
  bool backward_reads_inputs() const override { return !source_.needed(); }
  bool backward_reads_output() const override { return weights_.relu; }

  void Bind(const LayerTensors& tensors) override {
    tensors_ = AsFloats(tensors);
    forward_.Bind(DNNL_ARG_DST, tensors.output);
    forward_.Bind(DNNL_ARG_SCRATCHPAD, At(tensors.scratch, forward_scratchpad_));
  }

  void Forward(const float* replica, float* gradient) override {
    forward_.Bind(DNNL_ARG_SRC, source_.Run(tensors_.inputs[0], At(tensors_.kept, source_copy_)));
    forward_.Bind(DNNL_ARG_WEIGHTS, forward_weights_.Run(replica + weights_.weight,
                                                         At(tensors_.scratch, weights_copy_)));
    if (has_bias()) forward_.Bind(DNNL_ARG_BIAS, replica + weights_.bias);
    forward_.Run();
  }

  void Backward(const float* replica, float* gradient) override {
    float* dy = tensors_.output_gradients[0];
    SumInto(dy, std::span<float* const>(tensors_.output_gradients).subspan(1),
            formats_.output.size());
    if (weights_.relu) MaskByOutput(tensors_.output, dy, formats_.output.size());
    RunBackwardWeights(dy, gradient);
    if (tensors_.input_gradients[0] != nullptr) RunBackwardData(dy, replica);
  }

 private:
  bool has_bias() const { return weights_.bias != kNoOffset; }

  void PlanForward(const LinearPrimitives::Forward& p) {
    source_ = Conversion(formats_.input, p.source);
    forward_weights_ = Conversion(formats_.weights, p.weights);
    source_copy_ = kept_.Reserve(source_.to_bytes());
    weights_copy_ = forward_scratch_.Reserve(forward_weights_.to_bytes());
    forward_scratchpad_ = ReserveScratchpad(&forward_scratch_, p.scratchpad);
    forward_ = BoundPrimitive(p.primitive);
    forward_.AddArgument(DNNL_ARG_SRC, p.source);
    forward_.AddArgument(DNNL_ARG_WEIGHTS, p.weights);
    if (has_bias()) forward_.AddArgument(DNNL_ARG_BIAS, VectorDescriptor(formats_.outputs));
    forward_.AddArgument(DNNL_ARG_DST, p.destination);
    forward_.AddArgument(DNNL_ARG_SCRATCHPAD, p.scratchpad);
  }

  void PlanBackwardWeights(const LinearPrimitives::BackwardWeights& p,
                           const LinearPrimitives::Forward& forward) {
    source_for_weights_ = Conversion(forward.source, p.source);
    dy_for_weights_ = Conversion(formats_.output_memory, p.destination_gradient);
    weights_gradient_ = Conversion(p.weights_gradient, formats_.weights);
    source_for_weights_copy_ = weights_scratch_.Reserve(source_for_weights_.to_bytes());
    dy_for_weights_copy_ = weights_scratch_.Reserve(dy_for_weights_.to_bytes());
    weights_gradient_copy_ = weights_scratch_.Reserve(weights_gradient_.from_bytes());
    backward_weights_scratchpad_ = ReserveScratchpad(&weights_scratch_, p.scratchpad);
    backward_weights_ = BoundPrimitive(p.primitive);
    backward_weights_.AddArgument(DNNL_ARG_SRC, p.source);
    backward_weights_.AddArgument(DNNL_ARG_DIFF_DST, p.destination_gradient);
    backward_weights_.AddArgument(DNNL_ARG_DIFF_WEIGHTS, p.weights_gradient);
    if (has_bias()) {
      backward_weights_.AddArgument(DNNL_ARG_DIFF_BIAS, VectorDescriptor(formats_.outputs));
    }
    backward_weights_.AddArgument(DNNL_ARG_SCRATCHPAD, p.scratchpad);
  }

  void PlanBackwardData(const LinearPrimitives::BackwardData& p) {
    dy_for_data_ = Conversion(formats_.output_memory, p.destination_gradient);
    backward_weights_format_ = Conversion(formats_.weights, p.weights);
    source_gradient_ = Conversion(p.source_gradient, formats_.input);
    dy_for_data_copy_ = data_scratch_.Reserve(dy_for_data_.to_bytes());
    backward_weights_copy_ = data_scratch_.Reserve(backward_weights_format_.to_bytes());
    source_gradient_copy_ = data_scratch_.Reserve(source_gradient_.from_bytes());
    backward_data_scratchpad_ = ReserveScratchpad(&data_scratch_, p.scratchpad);
    backward_data_ = BoundPrimitive(p.primitive);
    backward_data_.AddArgument(DNNL_ARG_DIFF_DST, p.destination_gradient);
    backward_data_.AddArgument(DNNL_ARG_WEIGHTS, p.weights);
    backward_data_.AddArgument(DNNL_ARG_DIFF_SRC, p.source_gradient);
    backward_data_.AddArgument(DNNL_ARG_SCRATCHPAD, p.scratchpad);
  }

  static int64_t ReserveScratchpad(RegionPlan* plan, const dnnl::memory::desc& scratchpad) {
    return plan->Reserve(static_cast<int64_t>(scratchpad.get_size()));
  }

  void RunBackwardWeights(const float* dy, float* gradient) {
    const void* source = source_.needed() ? At(tensors_.kept, source_copy_)
                                          : static_cast<const void*>(tensors_.inputs[0]);
    float* weights = gradient + weights_.weight;
    void* computed = weights_gradient_.needed() ? At(tensors_.scratch, weights_gradient_copy_)
                                                : static_cast<void*>(weights);
    backward_weights_.Bind(
        DNNL_ARG_SRC,
        source_for_weights_.Run(source, At(tensors_.scratch, source_for_weights_copy_)));
    backward_weights_.Bind(DNNL_ARG_DIFF_DST,
                           dy_for_weights_.Run(dy, At(tensors_.scratch, dy_for_weights_copy_)));
    backward_weights_.Bind(DNNL_ARG_DIFF_WEIGHTS, computed);
    if (has_bias()) backward_weights_.Bind(DNNL_ARG_DIFF_BIAS, gradient + weights_.bias);
    backward_weights_.Bind(DNNL_ARG_SCRATCHPAD, At(tensors_.scratch, backward_weights_scratchpad_));
    backward_weights_.Run();
    weights_gradient_.Run(computed, weights);
  }

  void RunBackwardData(const float* dy, const float* replica) {
    float* wanted = tensors_.input_gradients[0];
    void* computed = source_gradient_.needed() ? At(tensors_.scratch, source_gradient_copy_)
                                               : static_cast<void*>(wanted);
    backward_data_.Bind(DNNL_ARG_DIFF_DST,
                        dy_for_data_.Run(dy, At(tensors_.scratch, dy_for_data_copy_)));
    backward_data_.Bind(DNNL_ARG_WEIGHTS,
                        backward_weights_format_.Run(replica + weights_.weight,
                                                     At(tensors_.scratch, backward_weights_copy_)));
    backward_data_.Bind(DNNL_ARG_DIFF_SRC, computed);
    backward_data_.Bind(DNNL_ARG_SCRATCHPAD, At(tensors_.scratch, backward_data_scratchpad_));
    backward_data_.Run();
    source_gradient_.Run(computed, wanted);
  }

  const LinearFormats formats_;
  const LinearWeights weights_;
  FloatTensors tensors_;

  RegionPlan kept_;
  RegionPlan forward_scratch_;
  RegionPlan weights_scratch_;
  RegionPlan data_scratch_;

  BoundPrimitive forward_;
  Conversion source_;
  Conversion forward_weights_;
  int64_t source_copy_ = 0;  // the offsets of the copies in their regions
  int64_t weights_copy_ = 0;
  int64_t forward_scratchpad_ = 0;

  BoundPrimitive backward_weights_;
  Conversion source_for_weights_;
  Conversion dy_for_weights_;
  Conversion weights_gradient_;
  int64_t source_for_weights_copy_ = 0;
  int64_t dy_for_weights_copy_ = 0;
  int64_t weights_gradient_copy_ = 0;
  int64_t backward_weights_scratchpad_ = 0;

  BoundPrimitive backward_data_;
  Conversion dy_for_data_;
  Conversion backward_weights_format_;
  Conversion source_gradient_;
  int64_t dy_for_data_copy_ = 0;
  int64_t backward_weights_copy_ = 0;
  int64_t source_gradient_copy_ = 0;
  int64_t backward_data_scratchpad_ = 0;
};

// Makes the three primitives of one convolution.
class ConvolutionPrimitives {
 public:
  ConvolutionPrimitives(const Convolution& operation, const LayerRequest& request)
      : operation_(operation), request_(request), input_(request.inputs[0].shape) {
    const auto extent = [&](int64_t size) {
      return (size + 2 * operation.padding - operation.kernel) / operation.stride + 1;
    };
    output_ = {input_.n, operation.outputs, extent(input_.h), extent(input_.w)};
    weights_ = {operation.outputs, input_.c, operation.kernel, operation.kernel};
    strides_ = {operation.stride, operation.stride};
    padding_ = {operation.padding, operation.padding};
  }

  LinearPrimitives Make() const {
    LinearPrimitives primitives;
    const auto hint = HintOfKnownLayout();
    primitives.forward = {dnnl::convolution_forward(hint), hint.src_desc(), hint.weights_desc(),
                          hint.dst_desc(), hint.scratchpad_desc()};
    if (!request_.backward) return primitives;
    primitives.backward_weights = Weights(hint);
    if (request_.wants_gradient[0]) primitives.backward_data = Data(hint);
    return primitives;
  }

  LinearFormats Formats(const LinearPrimitives& primitives) const {
    const memory::desc& chosen = primitives.forward.destination;
    return {Descriptor(request_.inputs[0]), Descriptor(weights_, memory::format_tag::nchw), chosen,
            *FormatOf(chosen, output_), operation_.outputs};
  }

 private:
  memory::desc Bias() const {
    return operation_.bias == kNoOffset ? memory::desc() : VectorDescriptor(operation_.outputs);
  }

  // Leaves the choice of layouts to oneDNN; if it chooses one that FormatOf does not know, asks for
  // an nhwc output.
  dnnl::convolution_forward::primitive_desc HintOfKnownLayout() const {
    const auto hint = Hint(AnyDescriptor(output_));
    if (FormatOf(hint.dst_desc(), output_).has_value()) return hint;
    return Hint(Descriptor(output_, memory::format_tag::nhwc));
  }

  dnnl::convolution_forward::primitive_desc Hint(const memory::desc& output) const {
    dnnl::primitive_attr attributes = CallerScratchpad();
    if (operation_.relu) AppendRelu(&attributes);
    const prop_kind kind = request_.mode == Mode::kTraining ? prop_kind::forward_training
                                                            : prop_kind::forward_inference;
    return {{kind, dnnl::algorithm::convolution_direct, AnyDescriptor(input_),
             AnyDescriptor(weights_), Bias(), output, strides_, padding_, padding_},
            attributes,
            OneDnnEngine()};
  }

  LinearPrimitives::BackwardWeights Weights(
      const dnnl::convolution_forward::primitive_desc& hint) const {
    const dnnl::convolution_backward_weights::primitive_desc p(
        {dnnl::algorithm::convolution_direct, AnyDescriptor(input_), AnyDescriptor(weights_),
         Bias(), AnyDescriptor(output_), strides_, padding_, padding_},
        CallerScratchpad(), OneDnnEngine(), hint);
    return {dnnl::convolution_backward_weights(p), p.src_desc(), p.diff_weights_desc(),
            p.diff_dst_desc(), p.scratchpad_desc()};
  }

  LinearPrimitives::BackwardData Data(const dnnl::convolution_forward::primitive_desc& hint) const {
    const dnnl::convolution_backward_data::primitive_desc p(
        {dnnl::algorithm::convolution_direct, AnyDescriptor(input_), AnyDescriptor(weights_),
         AnyDescriptor(output_), strides_, padding_, padding_},
        CallerScratchpad(), OneDnnEngine(), hint);
    return {dnnl::convolution_backward_data(p), p.diff_src_desc(), p.weights_desc(),
            p.diff_dst_desc(), p.scratchpad_desc()};
  }

  const Convolution& operation_;
  const LayerRequest& request_;
  const TensorShape input_;
  TensorShape output_;
  TensorShape weights_;
  memory::dims strides_;
  memory::dims padding_;
};

// Returns whether the input's memory is one row of numbers per image, in the order of the weights.
bool IsRows(const TensorFormat& input) {
  if (input.layout == Layout::kNchw) return true;
  if (input.layout == Layout::kNhwc && input.shape.c == 1) return true;
  return input.shape.area() == 1 && input.size() == input.shape.size();
}

memory::desc Matrix(int64_t rows, int64_t columns) {
  return memory::desc({rows, columns}, memory::data_type::f32, memory::format_tag::ab);
}

// Makes the three primitives of one inner product. Weights keep their layout in the replica: at the
// batch sizes of training, oneDNN's blocked kernels gain less than it costs to convert weights and
// gradients to their layout and back.
class InnerProductPrimitives {
 public:
  InnerProductPrimitives(const InnerProduct& operation, const LayerRequest& request)
      : operation_(operation), request_(request), input_(request.inputs[0].shape) {}

  LinearPrimitives Make() const {
    LinearPrimitives primitives;
    const auto hint = Hint();
    primitives.forward = {dnnl::inner_product_forward(hint), hint.src_desc(), hint.weights_desc(),
                          hint.dst_desc(), hint.scratchpad_desc()};
    if (!request_.backward) return primitives;
    primitives.backward_weights = Weights(hint);
    if (request_.wants_gradient[0]) primitives.backward_data = Data(hint);
    return primitives;
  }

  LinearFormats Formats() const {
    const TensorFormat output{{input_.n, operation_.outputs}, Layout::kNhwc};
    return {is_rows_ ? Source() : Descriptor(request_.inputs[0]), Weight(), Output(), output,
            operation_.outputs};
  }

 private:
  memory::desc Source() const {
    if (is_rows_) return Matrix(input_.n, input_.size() / input_.n);
    return Descriptor(input_, memory::format_tag::nchw);
  }
  memory::desc Weight() const {
    if (is_rows_) return Matrix(operation_.outputs, input_.size() / input_.n);
    const TensorShape shape{operation_.outputs, input_.c, input_.h, input_.w};
    return Descriptor(shape, memory::format_tag::nchw);
  }
  memory::desc Output() const { return Matrix(input_.n, operation_.outputs); }
  memory::desc Bias() const {
    return operation_.bias == kNoOffset ? memory::desc() : VectorDescriptor(operation_.outputs);
  }

  dnnl::inner_product_forward::primitive_desc Hint() const {
    dnnl::primitive_attr attributes = CallerScratchpad();
    if (operation_.relu) AppendRelu(&attributes);
    const prop_kind kind = request_.mode == Mode::kTraining ? prop_kind::forward_training
                                                            : prop_kind::forward_inference;
    return {{kind, Source(), Weight(), Bias(), Output()}, attributes, OneDnnEngine()};
  }

  LinearPrimitives::BackwardWeights Weights(
      const dnnl::inner_product_forward::primitive_desc& hint) const {
    const dnnl::inner_product_backward_weights::primitive_desc p(
        {Source(), Weight(), Bias(), Output()}, CallerScratchpad(), OneDnnEngine(), hint);
    return {dnnl::inner_product_backward_weights(p), p.src_desc(), p.diff_weights_desc(),
            p.diff_dst_desc(), p.scratchpad_desc()};
  }

  LinearPrimitives::BackwardData Data(
      const dnnl::inner_product_forward::primitive_desc& hint) const {
    const dnnl::inner_product_backward_data::primitive_desc p(
        {Source(), Weight(), Output()}, CallerScratchpad(), OneDnnEngine(), hint);
    return {dnnl::inner_product_backward_data(p), p.diff_src_desc(), p.weights_desc(),
            p.diff_dst_desc(), p.scratchpad_desc()};
  }

  const InnerProduct& operation_;
  const LayerRequest& request_;
  const TensorShape input_;
  const bool is_rows_ = IsRows(request_.inputs[0]);
};

class PoolingLayer : public Layer {
 public:
  PoolingLayer(const Pooling& operation, const LayerRequest& request)
      : input_(Descriptor(request.inputs[0])) {
    const TensorShape& x = request.inputs[0].shape;
    const bool whole = operation.kernel == 0;
    const memory::dims kernel =
        whole ? memory::dims{x.h, x.w} : memory::dims{operation.kernel, operation.kernel};
    const memory::dims stride = {operation.stride, operation.stride};
    const memory::dims padding = {operation.padding, operation.padding};
    const auto extent = [&](int64_t size, int64_t window) {
      return (size + 2 * operation.padding - window) / operation.stride + 1;
    };
    output_ = {{x.n, x.c, extent(x.h, kernel[0]), extent(x.w, kernel[1])},
               request.inputs[0].layout};
    const dnnl::algorithm algorithm = operation.kind == Pooling::Kind::kMax
                                          ? dnnl::algorithm::pooling_max
                                          : dnnl::algorithm::pooling_avg_exclude_padding;
    const bool training = request.mode == Mode::kTraining;
    const dnnl::pooling_forward::primitive_desc forward(
        {training ? prop_kind::forward_training : prop_kind::forward_inference, algorithm, input_,
         Descriptor(output_), stride, kernel, padding, padding},
        CallerScratchpad(), OneDnnEngine());
    PlanForward(forward, training);
    if (!training) return;
    PlanBackward({{algorithm, input_, Descriptor(output_), stride, kernel, padding, padding},
                  CallerScratchpad(),
                  OneDnnEngine(),
                  forward});
  }

  const TensorFormat& output() const override { return output_; }
  int64_t kept_bytes() const override { return workspace_bytes_; }
  int64_t scratch_bytes() const override { return scratch_bytes_; }

  void Bind(const LayerTensors& tensors) override {
    tensors_ = AsFloats(tensors);
    forward_.Bind(DNNL_ARG_SRC, tensors.inputs[0]);
    forward_.Bind(DNNL_ARG_DST, tensors.output);
    forward_.Bind(DNNL_ARG_SCRATCHPAD, tensors.scratch);
    if (workspace_bytes_ > 0) forward_.Bind(DNNL_ARG_WORKSPACE, tensors.kept);
  }

  void Forward(const float* replica, float* gradient) override { forward_.Run(); }

  void Backward(const float* replica, float* gradient) override {
    if (tensors_.input_gradients[0] == nullptr) return;
    float* dy = tensors_.output_gradients[0];
    SumInto(dy, std::span<float* const>(tensors_.output_gradients).subspan(1), output_.size());
    backward_.Bind(DNNL_ARG_DIFF_DST, dy);
    backward_.Bind(DNNL_ARG_DIFF_SRC, tensors_.input_gradients[0]);
    backward_.Bind(DNNL_ARG_SCRATCHPAD, tensors_.scratch);
    if (workspace_bytes_ > 0) backward_.Bind(DNNL_ARG_WORKSPACE, tensors_.kept);
    backward_.Run();
  }

 private:
  void PlanForward(const dnnl::pooling_forward::primitive_desc& p, bool training) {
    forward_ = BoundPrimitive(dnnl::pooling_forward(p));
    forward_.AddArgument(DNNL_ARG_SRC, input_);
    forward_.AddArgument(DNNL_ARG_DST, Descriptor(output_));
    forward_.AddArgument(DNNL_ARG_SCRATCHPAD, p.scratchpad_desc());
    scratch_bytes_ = static_cast<int64_t>(p.scratchpad_desc().get_size());
    workspace_bytes_ = training ? static_cast<int64_t>(p.workspace_desc().get_size()) : 0;
    if (workspace_bytes_ > 0) forward_.AddArgument(DNNL_ARG_WORKSPACE, p.workspace_desc());
  }

  void PlanBackward(const dnnl::pooling_backward::primitive_desc& p) {
    backward_ = BoundPrimitive(dnnl::pooling_backward(p));
    backward_.AddArgument(DNNL_ARG_DIFF_DST, Descriptor(output_));
    backward_.AddArgument(DNNL_ARG_DIFF_SRC, input_);
    backward_.AddArgument(DNNL_ARG_SCRATCHPAD, p.scratchpad_desc());
    scratch_bytes_ = std::max(scratch_bytes_, static_cast<int64_t>(p.scratchpad_desc().get_size()));
    if (workspace_bytes_ > 0) backward_.AddArgument(DNNL_ARG_WORKSPACE, p.workspace_desc());
  }

  const memory::desc input_;
  TensorFormat output_;
  int64_t workspace_bytes_ = 0;
  int64_t scratch_bytes_ = 0;
  BoundPrimitive forward_;
  BoundPrimitive backward_;
  FloatTensors tensors_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Layer>> MakeConvolutionLayer(const Convolution& operation,
                                                            const LayerRequest& request) {
  return CatchOneDnn("convolution", [&] {
    const ConvolutionPrimitives convolution(operation, request);
    const LinearPrimitives primitives = convolution.Make();
    return std::make_unique<WeightedLayer>(
        primitives, convolution.Formats(primitives),
        LinearWeights{operation.weight, operation.bias, operation.relu});
  });
}

absl::StatusOr<std::unique_ptr<Layer>> MakeInnerProductLayer(const InnerProduct& operation,
                                                             const LayerRequest& request) {
  return CatchOneDnn("inner product", [&] {
    const InnerProductPrimitives product(operation, request);
    return std::make_unique<WeightedLayer>(
        product.Make(), product.Formats(),
        LinearWeights{operation.weight, operation.bias, operation.relu});
  });
}

absl::StatusOr<std::unique_ptr<Layer>> MakePoolingLayer(const Pooling& operation,
                                                        const LayerRequest& request) {
  return CatchOneDnn("pooling", [&] { return std::make_unique<PoolingLayer>(operation, request); });
}

}  // namespace grapevine
