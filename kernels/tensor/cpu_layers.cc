#include "kernels/tensor/cpu_layers.h"

#include "kernels/tensor/batch_norm_layer.h"
#include "kernels/tensor/convolution_layer.h"
#include "kernels/tensor/elementwise_layers.h"
#include "kernels/tensor/inner_product_layer.h"
#include "kernels/tensor/pooling_layer.h"

namespace grapevine {
namespace {

struct Maker {
  using Result = absl::StatusOr<std::unique_ptr<Layer>>;

  Result operator()(const Convolution& o) const { return MakeConvolutionLayer(o, request); }
  Result operator()(const InnerProduct& o) const { return MakeInnerProductLayer(o, request); }
  Result operator()(const BatchNormalization& o) const { return MakeBatchNormLayer(o, request); }
  Result operator()(const Pooling& o) const { return MakePoolingLayer(o, request); }
  Result operator()(const Relu&) const { return MakeReluLayer(request); }
  Result operator()(const Add& o) const { return MakeAddLayer(o, request); }
  Result operator()(const Subsample& o) const { return MakeSubsampleLayer(o, request); }

  const LayerRequest& request;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Layer>> CpuLayers::Make(const LayerRequest& request) const {
  return std::visit(Maker{request}, request.operation);
}

}  // namespace grapevine
