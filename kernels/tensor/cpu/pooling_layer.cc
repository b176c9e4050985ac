#include "kernels/tensor/cpu/pooling_layer.h"

#include <algorithm>
#include <optional>

#include "kernels/tensor/cpu/elementwise.h"
#include "kernels/tensor/cpu/onednn.h"

namespace grapevine {
namespace {

using dnnl::memory;
using dnnl::prop_kind;

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

absl::StatusOr<std::unique_ptr<Layer>> MakePoolingLayer(const Pooling& operation,
                                                        const LayerRequest& request) {
  return CatchOneDnn("pooling", [&] { return std::make_unique<PoolingLayer>(operation, request); });
}

}  // namespace grapevine
