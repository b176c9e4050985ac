// Our graphs have plans on every generation of GPUs: asked of cuDNN for GPUs that are only
// described, so that it needs none.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/tensor/cuda/library/cudnn_graph.h"

namespace grapevine {
namespace {

using Pass = CudnnGraph::Pass;

CudnnTarget Gpu(int compute_capability) {
  const absl::StatusOr<CudnnTarget> gpu = CudnnTarget::Described(absl::StrCat(
      R"({"deviceVer":)", 10 * compute_capability,
      R"(,"driverVer":13000,"deviceName":"a GPU","cudaDeviceId":0,"pciDeviceId":0,)",
      R"("maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],)",
      R"("regsPerBlock":65536,"multiProcessorCount":80,"warpSize":32,)",
      R"("maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":)",
      compute_capability == 75 ? 65536 : 101376,
      R"(,"reservedSharedMemoryPerBlock":1024,"maxRegistersPerSM":65536,"maxCtasPerSM":16,)",
      R"("maxThreadsPerBlock":1024,"maxThreadsPerSM":1024,"isTccDriver":0,"supportCoopLaunch":1,)",
      R"("smClockRateKHz":1500000,"memClockRateKHz":5000000,"l2CacheSize":4194304,)",
      R"("totalGlobalMem":17179869184})"));
  EXPECT_TRUE(gpu.ok()) << gpu.status();
  return *gpu;
}

struct Shape {
  Convolution operation;
  TensorShape input;
};

// Bias and ReLU where the networks have them.
std::vector<Shape> Shapes() {
  const auto plain = [](int64_t outputs, int64_t kernel, int64_t stride) {
    return Convolution{
        .outputs = outputs, .kernel = kernel, .stride = stride, .padding = kernel / 2};
  };
  return {
      // LeNet-5
      {{.outputs = 6, .kernel = 5, .padding = 2, .bias = 0, .relu = true}, {32, 1, 28, 28}},
      {{.outputs = 16, .kernel = 5, .bias = 0, .relu = true}, {32, 6, 14, 14}},
      {{.outputs = 6, .kernel = 5, .bias = 0, .relu = true}, {32, 3, 32, 32}},
      // ResNet-20
      {plain(16, 3, 1), {32, 3, 32, 32}},
      {plain(16, 3, 1), {32, 16, 32, 32}},
      {plain(32, 3, 2), {32, 16, 32, 32}},
      {plain(64, 3, 2), {32, 32, 16, 16}},
      {plain(64, 3, 1), {32, 64, 8, 8}},
      // ResNet-50: its first, and of a stage the three of a block and both shortcuts
      {plain(64, 7, 2), {32, 3, 224, 224}},
      {plain(64, 1, 1), {32, 64, 56, 56}},
      {plain(64, 3, 1), {32, 64, 56, 56}},
      {plain(256, 1, 1), {32, 64, 56, 56}},
      {plain(512, 1, 2), {32, 256, 56, 56}},
      {plain(512, 3, 2), {32, 512, 14, 14}},
      {plain(2048, 1, 1), {32, 512, 7, 7}},
  };
}

class ConvolutionGraphsTest : public ::testing::TestWithParam<int> {
 protected:
  static std::vector<ElementType> Types() {
    if (GetParam() < 80) return {ElementType::kFloat32, ElementType::kFloat16};
    return {ElementType::kFloat32, ElementType::kBFloat16, ElementType::kFloat16};
  }
  static void ExpectPlans(CudnnGraph graph, const CudnnEngineRules& rules) {
    const auto plans = graph.Plans(Gpu(GetParam()), rules, 2);
    ASSERT_TRUE(plans.ok()) << plans.status();
    EXPECT_GE(plans->size(), 1u);
    EXPECT_LE(plans->size(), 2u);
  }
};

TEST_P(ConvolutionGraphsTest, EveryPassOfEveryNetworkHasAPlan) {
  for (const Shape& shape : Shapes()) {
    for (ElementType type : Types()) {
      const ConvolutionGraphs graphs(shape.operation, {shape.input, Layout::kNhwc, type});
      for (Pass pass : {Pass::kForward, Pass::kDataGradient, Pass::kFilterGradient}) {
        ExpectPlans(graphs.Product(pass), {});
      }
    }
  }
}

TEST_P(ConvolutionGraphsTest, BiasAndReluHaveAPlan) {
  for (const Shape& shape : Shapes()) {
    if (shape.operation.bias == kNoOffset) continue;
    for (ElementType type : Types()) {
      ExpectPlans(ConvolutionGraphs(shape.operation, {shape.input, Layout::kNhwc, type}).Fused(),
                  {});
    }
  }
}

TEST_P(ConvolutionGraphsTest, Fp32HasAPlanWithoutTensorCores) {
  for (const Shape& shape : Shapes()) {
    const ConvolutionGraphs graphs(shape.operation, {shape.input, Layout::kNhwc});
    for (Pass pass : {Pass::kForward, Pass::kDataGradient, Pass::kFilterGradient}) {
      ExpectPlans(graphs.Product(pass), {.tensor_cores_for_fp32 = false});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, ConvolutionGraphsTest, ::testing::Values(75, 80, 86, 90, 100, 120),
                         [](const auto& info) { return "Sm" + std::to_string(info.param); });

// What the heuristics put first needs tensor cores; the fast engines without stand behind.
TEST(CudnnGraphTest, Fp32WithoutTensorCoresHasMoreToMeasureThanTheFallback) {
  const Convolution operation{.outputs = 64, .kernel = 3, .padding = 1};
  const ConvolutionGraphs graphs(operation, {{128, 64, 56, 56}, Layout::kNhwc});
  for (Pass pass : {Pass::kForward, Pass::kDataGradient}) {
    const auto plans = graphs.Product(pass).Plans(Gpu(90), {.tensor_cores_for_fp32 = false}, 10);
    ASSERT_TRUE(plans.ok()) << plans.status();
    EXPECT_GE(plans->size(), 5u);
  }
}

TEST(CudnnGraphTest, SaysWhatCudnnRefuses) {
  // Three channels of x for two of the weights.
  CudnnGraph graph("a convolution");
  graph.Convolution(Pass::kForward, {}, {kInput, {{1, 3, 8, 8}}}, {kWeights, {{4, 2, 3, 3}}},
                    {kOutput, {{1, 4, 6, 6}}});
  const absl::Status status = graph.Plans(Gpu(90), {}, 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(status.message().find("a convolution: convolution: CUDNN_STATUS_"), 0u) << status;
}

TEST(CudnnGraphTest, RefusesAGpuThatIsNoDescription) {
  EXPECT_EQ(CudnnTarget::Described("{}").status().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace grapevine
