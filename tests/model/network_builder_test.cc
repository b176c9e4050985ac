
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/status.h"
#include "model/network/network_graph.h"

namespace grapevine {
namespace {

using Tensor = NetworkBuilder::Tensor;

constexpr ImageShape kImage = {8, 8, 3};

std::vector<std::string> Names(const std::vector<TensorView>& views) {
  std::vector<std::string> names;
  for (const TensorView& view : views) names.push_back(view.name);
  return names;
}

void ExpectRefusal(NetworkBuilder& builder, Tensor logits, const std::string& message) {
  const auto graph = builder.Build(logits);
  EXPECT_EQ(graph.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FailureOf(graph.status()), Failure::kUsage);
  EXPECT_EQ(graph.status().message(), message);
}

TEST(NetworkBuilderTest, LaysTheReplicaOutInTheOrderOfTheCalls) {
  NetworkBuilder b("net", kImage);
  Tensor x = b.BatchNorm("bn", b.Convolution("conv", b.input(), {.outputs = 4, .bias = false}));
  const auto graph = b.Build(b.Linear("fc", x, 10));
  ASSERT_TRUE(graph.ok()) << graph.status();
  const ReplicaLayout& layout = graph->layout;
  EXPECT_EQ(
      Names(layout.parameters),
      (std::vector<std::string>{"conv.weight", "bn.weight", "bn.bias", "fc.weight", "fc.bias"}));
  EXPECT_EQ(Names(layout.buffers), (std::vector<std::string>{"bn.running_mean", "bn.running_var"}));
  EXPECT_EQ(layout.parameters[0].shape, (std::vector<int64_t>{4, 3, 3, 3}));
  EXPECT_EQ(layout.parameters[3].shape, (std::vector<int64_t>{10, 144}));
  const auto& norm = std::get<BatchNormalization>(graph->nodes[1].operation);
  EXPECT_EQ(norm.running_mean, layout.buffers[0].offset);
  EXPECT_EQ(norm.running_variance, layout.buffers[1].offset);
}

TEST(NetworkBuilderTest, KnowsShapes) {
  NetworkBuilder b("net", {28, 20, 1});
  Tensor x = b.Convolution("conv", b.input(), {.outputs = 6, .kernel = 5, .padding = 2});
  EXPECT_EQ(b.shape(x), (TensorShape{1, 6, 28, 20}));
  EXPECT_EQ(b.shape(b.MaxPool(x, {})), (TensorShape{1, 6, 14, 10}));
  EXPECT_EQ(b.shape(b.AveragePool(x, {.kernel = 3, .stride = 2, .padding = 1})),
            (TensorShape{1, 6, 14, 10}));
  EXPECT_EQ(b.shape(b.GlobalAveragePool(x)), (TensorShape{1, 6, 1, 1}));
  EXPECT_EQ(b.shape(b.Subsample(x, 12, 2)), (TensorShape{1, 12, 14, 10}));
}

TEST(NetworkBuilderTest, RefusesAKernelThatDoesNotFit) {
  NetworkBuilder b("net", kImage);
  ExpectRefusal(b, b.Linear("fc", b.Convolution("conv", b.input(), {.outputs = 1, .kernel = 9}), 2),
                "net: conv: a kernel of 9 does not fit an input of 3x8x8 with padding 0");
}

TEST(NetworkBuilderTest, RefusesANameUsedTwice) {
  NetworkBuilder b("net", kImage);
  ExpectRefusal(b, b.Linear("fc", b.Linear("fc", b.input(), 4), 2),
                "net: fc: the name is used twice");
}

TEST(NetworkBuilderTest, RefusesToAddDifferentShapes) {
  NetworkBuilder b("net", kImage);
  const Tensor x = b.Linear("a", b.input(), 4);
  ExpectRefusal(b, b.Add(x, b.Linear("b", x, 5)),
                "net: Add: 4x1x1 and 5x1x1 have different shapes");
}

TEST(NetworkBuilderTest, RefusesLooseEnds) {
  NetworkBuilder b("net", kImage);
  b.Linear("unused", b.input(), 4);
  ExpectRefusal(b, b.Linear("fc", b.input(), 2), "net: Build: nothing reads the output of layer 1");
}

TEST(NetworkBuilderTest, RefusesImagesForLogits) {
  NetworkBuilder b("net", kImage);
  ExpectRefusal(b, b.Convolution("conv", b.input(), {.outputs = 2}),
                "net: Build: logits of shape 2x6x6; end with a Linear layer or a "
                "GlobalAveragePool");
}

TEST(NetworkBuilderTest, RefusesEmptyImages) {
  NetworkBuilder b("net", {0, 8, 3});
  ExpectRefusal(b, b.Linear("fc", b.input(), 2),
                "net: input: an image needs a height, a width and a channel");
}

TEST(FusionTest, AResidualBlockBecomesFourOperations) {
  NetworkBuilder b("net", kImage);
  const Tensor x = b.Relu(b.Convolution("stem", b.input(), {.outputs = 4, .padding = 1}));
  Tensor y = b.Relu(b.BatchNorm("bn1", b.Convolution("conv1", x, {.outputs = 4, .padding = 1})));
  y = b.BatchNorm("bn2", b.Convolution("conv2", y, {.outputs = 4, .padding = 1}));
  const auto graph = b.Build(b.Linear("fc", b.Relu(b.Add(x, y)), 2));
  ASSERT_TRUE(graph.ok()) << graph.status();
  const NetworkGraph fused = Fuse(*graph);
  ASSERT_EQ(fused.nodes.size(), 6u);
  EXPECT_TRUE(std::get<Convolution>(fused.nodes[0].operation).relu);
  EXPECT_TRUE(std::get<BatchNormalization>(fused.nodes[2].operation).relu);
  EXPECT_FALSE(std::get<Convolution>(fused.nodes[3].operation).relu);
  EXPECT_TRUE(std::get<BatchNormalization>(fused.nodes[4].operation).relu);
  EXPECT_EQ(fused.nodes[4].inputs, (std::vector<int>{4, 1}));
  EXPECT_EQ(fused.nodes[5].inputs, (std::vector<int>{5}));
  EXPECT_EQ(fused.layout.Fingerprint(), graph->layout.Fingerprint());
}

TEST(FusionTest, AValueThatOthersReadStaysItself) {
  NetworkBuilder b("net", kImage);
  const Tensor x = b.Linear("fc1", b.input(), 4);
  const auto graph = b.Build(b.Linear("fc2", b.Add(x, b.Relu(x)), 2));
  ASSERT_TRUE(graph.ok()) << graph.status();
  const NetworkGraph fused = Fuse(*graph);
  EXPECT_EQ(fused.nodes.size(), 4u);
  EXPECT_FALSE(std::get<InnerProduct>(fused.nodes[0].operation).relu);
}

}  // namespace
}  // namespace grapevine
