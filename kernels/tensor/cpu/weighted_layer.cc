#include "kernels/tensor/cpu/weighted_layer.h"

#include <algorithm>

#include "kernels/tensor/cpu/passes.h"

namespace grapevine {
namespace {

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
  int64_t source_copy_ = 0;  // the offset of each copy in its region
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

}  // namespace

std::unique_ptr<Layer> MakeWeightedLayer(const LinearPrimitives& primitives,
                                         const LinearFormats& formats,
                                         const LinearWeights& weights) {
  return std::make_unique<WeightedLayer>(primitives, formats, weights);
}

}  // namespace grapevine
