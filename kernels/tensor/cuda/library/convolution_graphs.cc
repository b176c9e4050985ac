#include "kernels/tensor/cuda/library/convolution_graphs.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace grapevine {

ConvolutionGraphs::ConvolutionGraphs(const Convolution& operation, const TensorFormat& input)
    : operation_(operation), input_(input), output_(input), weights_(input) {
  const auto extent = [&](int64_t size) {
    return (size + 2 * operation.padding - operation.kernel) / operation.stride + 1;
  };
  const TensorShape& x = input.shape;
  output_.shape = {x.n, operation.outputs, extent(x.h), extent(x.w)};
  weights_.shape = {operation.outputs, x.c, operation.kernel, operation.kernel};
}

std::string ConvolutionGraphs::Name(std::string_view pass) const {
  return absl::StrCat("convolution of ", ToString(input_), " to ", operation_.outputs,
                      " channels, kernel ", operation_.kernel, ", stride ", operation_.stride,
                      ", padding ", operation_.padding, ", ", std::string(pass));
}

CudnnGraph ConvolutionGraphs::Product(CudnnGraph::Pass pass) const {
  static constexpr std::string_view kNames[] = {"forward", "gradient of the input",
                                                "gradient of the weights"};
  CudnnGraph graph(Name(kNames[static_cast<int>(pass)]));
  graph.Convolution(pass, {operation_.stride, operation_.padding}, {kInput, input_},
                    {kWeights, weights_}, {kOutput, output_});
  return graph;
}

CudnnGraph ConvolutionGraphs::Fused() const {
  const bool bias = operation_.bias != kNoOffset;
  CudnnGraph graph(
      Name(absl::StrCat("forward", bias ? " with bias" : "", operation_.relu ? " and ReLU" : "")));
  TensorFormat within = output_;
  within.type = ElementType::kFloat32;
  int64_t id = kBias + 1;
  const auto next = [&](bool last) {
    return last ? CudnnTensor{kOutput, output_} : CudnnTensor{id++, within, true};
  };
  CudnnTensor y = next(!bias && !operation_.relu);
  graph.Convolution(CudnnGraph::Pass::kForward, {operation_.stride, operation_.padding},
                    {kInput, input_}, {kWeights, weights_}, y);
  if (bias) {
    TensorFormat format = output_;
    format.shape = {1, operation_.outputs, 1, 1};
    const CudnnTensor product = y;
    y = next(!operation_.relu);
    graph.Add(product, {kBias, format}, y);
  }
  if (operation_.relu) graph.Relu(y, next(true));
  return graph;
}

}  // namespace grapevine
