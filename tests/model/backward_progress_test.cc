// Gradients in parts: what is called final is, and the estimate of when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "model/network/backward_cost.h"
#include "model/network/network_graph.h"
#include "model/networks/network_kind.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr ImageShape kProgressImage = {28, 28, 1};

Batch RandomBatch() {
  KeyedRandom random(1, Purpose::kSyntheticData);
  Batch batch{.size = 4};
  batch.images.resize(batch.size * kProgressImage.size());
  batch.labels.resize(batch.size);
  for (float& pixel : batch.images) pixel = static_cast<float>(random.Normal());
  for (int32_t& label : batch.labels) label = static_cast<int32_t>(random.Below(10));
  return batch;
}

class GradientsInParts : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto network = MakeNetwork(GetParam(), kProgressImage, 10, {});
    ASSERT_TRUE(network.ok()) << network.status();
    network_ = *std::move(network);
    size_ = network_->layout().size;
  }
  std::unique_ptr<Network> network_;
  int64_t size_ = 0;
};

TEST_P(GradientsInParts, WhatIsFinalDoesNotChange) {
  std::vector<float> replica(size_), gradient(size_, -1), snapshot(size_), expected(size_);
  network_->Initialize(1, replica.data());
  const Batch batch = RandomBatch();
  int64_t ready = size_;
  std::vector<int64_t> parts;
  const auto loss =
      network_->GradientInParts(replica.data(), batch, gradient.data(), [&](int64_t from) {
        EXPECT_LE(from, ready) << "parts only grow";
        std::copy(gradient.begin() + from, gradient.begin() + ready, snapshot.begin() + from);
        ready = from;
        if (parts.empty() || parts.back() != from) {
          parts.push_back(from);
        }
      });
  ASSERT_TRUE(loss.ok()) << loss.status();
  EXPECT_EQ(ready, 0);
  EXPECT_GE(parts.size(), std::string(GetParam()) == "softmax" ? 1u : 3u);
  EXPECT_EQ(snapshot, gradient);
  ASSERT_TRUE(network_->Gradient(replica.data(), batch, expected.data()).ok());
  EXPECT_EQ(gradient, expected) << "the parts make the same gradient";
}

TEST_P(GradientsInParts, TheEstimateRisesFromTheForwardPassToTheWhole) {
  EXPECT_EQ(network_->ReadyAt(0), 1);
  double last = 1;
  for (int64_t from = 0; from < size_; from += std::max<int64_t>(1, size_ / 1000)) {
    const double ready = network_->ReadyAt(from);
    EXPECT_LE(ready, last);
    EXPECT_GT(ready, 1.0 / 3) << "the backward pass is two thirds";
    last = ready;
  }
}

INSTANTIATE_TEST_SUITE_P(All, GradientsInParts,
                         ::testing::Values("softmax", "mlp", "lenet5", "resnet20"));

// Inner products of 784 x 10 alone: nothing is ready before all is.
TEST(ReadyAt, OfOneLayerIsTheEnd) {
  const auto network = *MakeNetwork("softmax", kProgressImage, 10, {});
  EXPECT_EQ(network->ReadyAt(network->layout().size - 1), 1);
}

TEST(ReadyAt, CountsMultiplications) {
  NetworkGraph graph;
  graph.input = {1, 1, 100};
  graph.layout.AddParameter("a", {10, 100});
  graph.layout.AddParameter("b", {5, 10});
  graph.nodes = {{.operation = InnerProduct{.outputs = 10, .weight = 0},
                  .inputs = {0},
                  .shape = {.n = 1, .c = 10}},
                 {.operation = InnerProduct{.outputs = 5, .weight = 1000},
                  .inputs = {1},
                  .shape = {.n = 1, .c = 5}}};
  const BackwardProgress progress(graph);
  EXPECT_EQ(progress.FinalFrom(1), 1000);
  EXPECT_EQ(progress.FinalFrom(0), 0);
  EXPECT_DOUBLE_EQ(progress.ReadyAt(1049), (1050.0 + 2 * 50) / 3150);
  EXPECT_DOUBLE_EQ(progress.ReadyAt(1000), (1050.0 + 2 * 50) / 3150);
  EXPECT_EQ(progress.ReadyAt(999), 1);
}

TEST(ReadyAt, IsEvenOverWhatIsNotKnown) {
  EXPECT_DOUBLE_EQ(EvenlyReadyAt(300, 300), 1.0 / 3);
  EXPECT_DOUBLE_EQ(EvenlyReadyAt(150, 300), 2.0 / 3);
  EXPECT_EQ(EvenlyReadyAt(0, 300), 1);
}

}  // namespace
}  // namespace grapevine
