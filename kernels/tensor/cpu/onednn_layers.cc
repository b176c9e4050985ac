#include "kernels/tensor/cpu/onednn_layers.h"

#include <algorithm>
#include <optional>

#include "kernels/tensor/cpu/onednn.h"
#include "kernels/tensor/cpu/passes.h"
#include "kernels/tensor/cpu/weighted_layer.h"

namespace grapevine {
namespace {

using dnnl::memory;
using dnnl::prop_kind;

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

  // oneDNN's own choice of layouts, unless it is one that we have no name for.
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

// Whether the input's memory is one row of numbers per image in the order of
// the weights.
bool IsRows(const TensorFormat& input) {
  if (input.layout == Layout::kNchw) return true;
  if (input.layout == Layout::kNhwc && input.shape.c == 1) return true;
  return input.shape.area() == 1 && input.size() == input.shape.size();
}

memory::desc Matrix(int64_t rows, int64_t columns) {
  return memory::desc({rows, columns}, memory::data_type::f32, memory::format_tag::ab);
}

// Makes the three primitives of one inner product. Weights stay as they lie in
// the replica: at training's batch sizes oneDNN's blocked kernels gain less than
// bringing weights and gradients into their layout and back costs.
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
    return MakeWeightedLayer(primitives, convolution.Formats(primitives),
                             {operation.weight, operation.bias, operation.relu});
  });
}

absl::StatusOr<std::unique_ptr<Layer>> MakeInnerProductLayer(const InnerProduct& operation,
                                                             const LayerRequest& request) {
  return CatchOneDnn("inner product", [&] {
    const InnerProductPrimitives product(operation, request);
    return MakeWeightedLayer(product.Make(), product.Formats(),
                             {operation.weight, operation.bias, operation.relu});
  });
}

absl::StatusOr<std::unique_ptr<Layer>> MakePoolingLayer(const Pooling& operation,
                                                        const LayerRequest& request) {
  return CatchOneDnn("pooling", [&] { return std::make_unique<PoolingLayer>(operation, request); });
}

}  // namespace grapevine
