// The operations on which references and layers are tested, and the numbers for them.
#ifndef GRAPEVINE_TESTS_KERNELS_TENSOR_OPERATION_CASES_H_
#define GRAPEVINE_TESTS_KERNELS_TENSOR_OPERATION_CASES_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/tensor/layer.h"
#include "kernels/tensor/reference/operation.h"
#include "random/keyed_random.h"

namespace grapevine {

struct OperationCase {
  std::string name;
  Operation operation;
  std::vector<TensorShape> inputs;
  int64_t replica_size = 0;
  int64_t parameter_size = 0;  // buffers follow

  friend std::ostream& operator<<(std::ostream& out, const OperationCase& c) {
    return out << c.name;
  }
};

inline OperationCase ConvolutionCase(std::string name, Convolution o, TensorShape x, bool bias) {
  o.weight = 0;
  const int64_t weights = o.outputs * x.c * o.kernel * o.kernel;
  if (bias) o.bias = weights;
  const int64_t size = weights + (bias ? o.outputs : 0);
  return {std::move(name), o, {x}, size, size};
}

inline OperationCase InnerProductCase(std::string name, InnerProduct o, TensorShape x) {
  o.weight = 0;
  o.bias = o.outputs * x.size() / x.n;
  return {std::move(name), o, {x}, o.bias + o.outputs, o.bias + o.outputs};
}

inline OperationCase BatchNormCase(std::string name, bool relu, bool shortcut, TensorShape x) {
  BatchNormalization o;
  o.weight = 0;
  o.bias = x.c;
  o.running_mean = 2 * x.c;
  o.running_variance = 3 * x.c;
  o.relu = relu;
  std::vector<TensorShape> inputs(shortcut ? 2 : 1, x);
  return {std::move(name), o, inputs, 4 * x.c, 2 * x.c};
}

// Small enough for finite differences.
inline std::vector<OperationCase> SmallCases() {
  const TensorShape image{2, 3, 5, 5};
  return {
      ConvolutionCase("Convolution", {.outputs = 2, .kernel = 3, .padding = 1}, image, true),
      ConvolutionCase("StridedConvolution", {.outputs = 4, .kernel = 3, .stride = 2}, image, false),
      ConvolutionCase("ConvolutionRelu", {.outputs = 2, .kernel = 3, .relu = true}, image, true),
      InnerProductCase("InnerProduct", {.outputs = 4}, image),
      InnerProductCase("InnerProductRelu", {.outputs = 4, .relu = true}, {3, 7}),
      BatchNormCase("BatchNorm", false, false, image),
      BatchNormCase("BatchNormRelu", true, false, image),
      BatchNormCase("BatchNormShortcut", false, true, image),
      BatchNormCase("BatchNormShortcutRelu", true, true, image),
      {"MaxPool", Pooling{Pooling::Kind::kMax, 2, 2, 0}, {{2, 3, 6, 6}}},
      {"OverlappingMaxPool", Pooling{Pooling::Kind::kMax, 3, 2, 1}, {image}},
      {"AveragePool", Pooling{Pooling::Kind::kAverage, 3, 2, 1}, {image}},
      {"GlobalAveragePool", Pooling{Pooling::Kind::kAverage}, {image}},
      {"Relu", Relu{}, {image}},
      {"Add", Add{}, {image, image}},
      {"AddRelu", Add{true}, {image, image}},
      {"Subsample", Subsample{5, 2}, {image}},
  };
}

// The shapes of the networks, whose layouts are blocked.
inline std::vector<OperationCase> LargeCases() {
  const TensorShape wide{4, 16, 16, 16};
  return {
      ConvolutionCase("FirstOfResNet", {.outputs = 16, .kernel = 3, .padding = 1}, {4, 3, 16, 16},
                      false),
      ConvolutionCase("ResNet", {.outputs = 16, .kernel = 3, .padding = 1}, wide, false),
      ConvolutionCase("ResNetStrided", {.outputs = 32, .kernel = 3, .stride = 2, .padding = 1},
                      wide, false),
      ConvolutionCase("FirstOfLeNet", {.outputs = 6, .kernel = 5, .padding = 2, .relu = true},
                      {4, 1, 28, 28}, true),
      ConvolutionCase("SecondOfLeNet", {.outputs = 16, .kernel = 5, .relu = true}, {4, 6, 14, 14},
                      true),
      InnerProductCase("FirstOfMlp", {.outputs = 256, .relu = true}, {4, 1, 28, 28}),
      InnerProductCase("LeNetLinear", {.outputs = 120, .relu = true}, {4, 16, 5, 5}),
      InnerProductCase("Logits", {.outputs = 10}, {4, 84}),
      BatchNormCase("ResNetNorm", true, true, {4, 32, 16, 16}),
      BatchNormCase("OddPositions", true, false, {3, 16, 17, 19}),
      BatchNormCase("PaddedChannels", true, true, {3, 24, 7, 7}),
      {"LeNetPool", Pooling{Pooling::Kind::kMax, 2, 2, 0}, {{4, 16, 10, 10}}},
      {"ResNetPool", Pooling{Pooling::Kind::kAverage}, {{4, 64, 8, 8}}},
      {"ResNetShortcut", Subsample{32, 2}, {wide}},
  };
}

// Distinct, well-separated numbers: a maximum has no ties.
template <typename T>
std::vector<T> RandomValues(int64_t size, uint64_t stream) {
  KeyedRandom random(7, Purpose::kSyntheticData, stream);
  std::vector<T> values(size);
  for (T& value : values) value = static_cast<T>(static_cast<float>(random.Normal()));
  return values;
}

template <typename T>
ReferenceCall<T> MakeCall(const OperationCase& c) {
  ReferenceCall<T> call{.mode = Mode::kTraining, .shapes = c.inputs};
  for (const TensorShape& shape : c.inputs) {
    call.inputs.push_back(RandomValues<T>(shape.size(), 1 + call.inputs.size()));
  }
  call.replica = RandomValues<T>(c.replica_size, 0);
  return call;
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_KERNELS_TENSOR_OPERATION_CASES_H_
