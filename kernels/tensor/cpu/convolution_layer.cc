#include "kernels/tensor/cpu/convolution_layer.h"

#include "kernels/tensor/cpu/onednn.h"
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

}  // namespace grapevine
