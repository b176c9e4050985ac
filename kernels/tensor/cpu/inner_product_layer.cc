#include "kernels/tensor/cpu/inner_product_layer.h"

#include "kernels/tensor/cpu/onednn.h"
#include "kernels/tensor/cpu/weighted_layer.h"

namespace grapevine {
namespace {

using dnnl::memory;
using dnnl::prop_kind;

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
