#include "kernels/tensor/inner_product_layer.h"

#include "kernels/tensor/onednn.h"
#include "kernels/tensor/weighted_layer.h"

namespace grapevine {
namespace {

using dnnl::memory;
using dnnl::prop_kind;

// Whether the input is simply one row of numbers per sample.
bool IsMatrix(const TensorFormat& input) {
  return input.shape.area() == 1 && input.size() == input.shape.size();
}

memory::desc Matrix(int64_t rows, int64_t columns, memory::format_tag tag) {
  return memory::desc({rows, columns}, memory::data_type::f32, tag);
}

// Makes the three primitives of one inner product.
class InnerProductPrimitives {
 public:
  InnerProductPrimitives(const InnerProduct& operation, const LayerRequest& request)
      : operation_(operation), request_(request), input_(request.inputs[0].shape) {}

  LinearPrimitives Make() const {
    LinearPrimitives primitives;
    const auto hint = Hint();
    primitives.forward = {dnnl::inner_product_forward(hint), hint.src_desc(), hint.weights_desc(),
                          hint.dst_desc(), hint.scratchpad_desc()};
    if (request_.mode == Mode::kInference) return primitives;
    primitives.backward_weights = Weights(hint);
    if (request_.wants_gradient[0]) primitives.backward_data = Data(hint);
    return primitives;
  }

  LinearFormats Formats() const {
    const TensorFormat output{{input_.n, operation_.outputs}, Layout::kNhwc};
    return {is_matrix_ ? Source(memory::format_tag::ab) : Descriptor(request_.inputs[0]),
            Weight(is_matrix_ ? memory::format_tag::ab : memory::format_tag::abcd), Output(),
            output, operation_.outputs};
  }

 private:
  memory::desc Source(memory::format_tag tag) const {
    return is_matrix_ ? Matrix(input_.n, input_.c, tag) : Descriptor(input_, tag);
  }
  memory::desc Weight(memory::format_tag tag) const {
    if (is_matrix_) return Matrix(operation_.outputs, input_.c, tag);
    return Descriptor(TensorShape{operation_.outputs, input_.c, input_.h, input_.w}, tag);
  }
  memory::desc Output() const {
    return Matrix(input_.n, operation_.outputs, memory::format_tag::ab);
  }
  memory::desc Bias() const {
    return operation_.bias == kNone ? memory::desc() : VectorDescriptor(operation_.outputs);
  }

  dnnl::inner_product_forward::primitive_desc Hint() const {
    dnnl::primitive_attr attributes = CallerScratchpad();
    if (operation_.relu) AppendRelu(&attributes);
    const prop_kind kind = request_.mode == Mode::kTraining ? prop_kind::forward_training
                                                            : prop_kind::forward_inference;
    return {
        {kind, Source(memory::format_tag::any), Weight(memory::format_tag::any), Bias(), Output()},
        attributes,
        OneDnnEngine()};
  }

  LinearPrimitives::BackwardWeights Weights(
      const dnnl::inner_product_forward::primitive_desc& hint) const {
    const dnnl::inner_product_backward_weights::primitive_desc p(
        {Source(memory::format_tag::any), Weight(memory::format_tag::any), Bias(), Output()},
        CallerScratchpad(), OneDnnEngine(), hint);
    return {dnnl::inner_product_backward_weights(p), p.src_desc(), p.diff_weights_desc(),
            p.diff_dst_desc(), p.scratchpad_desc()};
  }

  LinearPrimitives::BackwardData Data(
      const dnnl::inner_product_forward::primitive_desc& hint) const {
    const dnnl::inner_product_backward_data::primitive_desc p(
        {Source(memory::format_tag::any), Weight(memory::format_tag::any), Output()},
        CallerScratchpad(), OneDnnEngine(), hint);
    return {dnnl::inner_product_backward_data(p), p.diff_src_desc(), p.weights_desc(),
            p.diff_dst_desc(), p.scratchpad_desc()};
  }

  const InnerProduct& operation_;
  const LayerRequest& request_;
  const TensorShape input_;
  const bool is_matrix_ = IsMatrix(request_.inputs[0]);
};

}  // namespace

absl::StatusOr<std::unique_ptr<Layer>> MakeInnerProductLayer(const InnerProduct& operation,
                                                             const LayerRequest& request) {
  return CatchOneDnn("inner product", [&] {
    const InnerProductPrimitives product(operation, request);
    return MakeWeightedLayer(product.Make(), product.Formats(),
                             {operation.weight, operation.bias, operation.relu});
  });
}

}  // namespace grapevine
