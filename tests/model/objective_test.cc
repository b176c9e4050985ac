// The objectives: a network's, the quadratic's and the phantom's.
#include "model/problem/objective.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "model/networks/network_kind.h"
#include "model/problem/network_problem.h"
#include "model/problem/phantom_problem.h"
#include "model/problem/quadratic_problem.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr ImageShape kImage = {16, 16, 3};

class RandomBatches : public BatchSource {
 public:
  ImageShape shape() const override { return kImage; }
  int64_t classes() const override { return 10; }
  int64_t batch_size() const override { return 4; }
  absl::Status Fill(int64_t round, Batch* batch) override {
    KeyedRandom random(1, Purpose::kSyntheticData, static_cast<uint64_t>(round));
    batch->size = 4;
    batch->images.resize(batch->size * kImage.size());
    batch->labels.resize(batch->size);
    for (float& pixel : batch->images) pixel = static_cast<float>(random.Normal());
    for (int32_t& label : batch->labels) label = static_cast<int32_t>(random.Below(10));
    return absl::OkStatus();
  }
};

std::unique_ptr<Network> ResNet() {
  auto network = MakeNetwork("resnet20", kImage, 10, {});
  EXPECT_TRUE(network.ok()) << network.status();
  return *std::move(network);
}

TEST(NetworkObjectiveTest, IsTheNetworkOverTheBatchOfTheRound) {
  NetworkObjective objective(ResNet(), std::make_unique<RandomBatches>(), 5);
  const auto network = ResNet();
  EXPECT_EQ(objective.layout().Fingerprint(), network->layout().Fingerprint());
  EXPECT_EQ(objective.batch_size(), 4);
  std::vector<float> replica(objective.layout().size), expected_replica(replica.size());
  objective.Initialize(replica.data());
  network->Initialize(5, expected_replica.data());
  EXPECT_EQ(replica, expected_replica);

  std::vector<float> gradient(replica.size()), expected(replica.size());
  Batch batch;
  ASSERT_TRUE(RandomBatches().Fill(17, &batch).ok());
  const auto loss = objective.Gradient(replica.data(), 17, gradient.data());
  const auto expected_loss = network->Gradient(replica.data(), batch, expected.data());
  ASSERT_TRUE(loss.ok() && expected_loss.ok());
  EXPECT_EQ(*loss, *expected_loss);
  EXPECT_EQ(gradient, expected);
  ASSERT_TRUE(objective.Gradient(replica.data(), 18, gradient.data()).ok());
  EXPECT_NE(gradient, expected);
}

TEST(BatchNormRecalibrationTest, AveragesTheStatisticsOfTheBatches) {
  const auto network = ResNet();
  const ReplicaLayout& layout = network->layout();
  std::vector<float> replica(layout.size);
  network->Initialize(1, replica.data());
  const std::vector<float> before = replica;
  RandomBatches batches;
  std::vector<double> sum(layout.size, 0.0);
  for (int64_t round : {3, 4}) {
    Batch batch;
    std::vector<float> gradient(layout.size);
    ASSERT_TRUE(batches.Fill(round, &batch).ok());
    ASSERT_TRUE(network->Gradient(replica.data(), batch, gradient.data()).ok());
    for (int64_t i = 0; i < layout.size; ++i) sum[i] += gradient[i];
  }
  ASSERT_TRUE(RecalibrateBatchNorm(*network, batches, 3, 2, replica.data()).ok());
  for (int64_t i = 0; i < layout.parameter_size; ++i) ASSERT_EQ(replica[i], before[i]);
  for (int64_t i = layout.parameter_size; i < layout.size; ++i) {
    ASSERT_FLOAT_EQ(replica[i], static_cast<float>(sum[i] / 2)) << i;
  }
}

TEST(BatchNormRecalibrationTest, EvaluationThenMatchesTraining) {
  // With the statistics of one batch, evaluating that batch normalizes as
  // training does, but for the unbiased variance.
  const auto network = ResNet();
  std::vector<float> replica(network->layout().size), gradient(replica.size());
  network->Initialize(1, replica.data());
  RandomBatches batches;
  Batch batch;
  ASSERT_TRUE(batches.Fill(0, &batch).ok());
  const auto loss = network->Gradient(replica.data(), batch, gradient.data());
  ASSERT_TRUE(loss.ok());
  const auto stale = network->Evaluate(replica.data(), batch);
  ASSERT_TRUE(RecalibrateBatchNorm(*network, batches, 0, 1, replica.data()).ok());
  const auto fresh = network->Evaluate(replica.data(), batch);
  ASSERT_TRUE(stale.ok() && fresh.ok());
  EXPECT_NEAR(fresh->loss_sum / 4, *loss, 0.05);
  EXPECT_GT(std::abs(stale->loss_sum / 4 - *loss), 0.1);
}

TEST(QuadraticObjectiveTest, WithoutNoiseTheGradientIsExact) {
  QuadraticObjective objective({.optimum = {1, -2}, .curvature = 0.5, .start = 3});
  std::vector<float> x(2), gradient(2);
  objective.Initialize(x.data());
  EXPECT_EQ(x, (std::vector<float>{3, 3}));
  const auto loss = objective.Gradient(x.data(), 0, gradient.data());
  ASSERT_TRUE(loss.ok());
  EXPECT_DOUBLE_EQ(*loss, 0.25 * (4 + 25));
  EXPECT_EQ(gradient, (std::vector<float>{1, 2.5}));
}

TEST(QuadraticObjectiveTest, TheNoiseHasItsDeviationAndItsKey) {
  constexpr int64_t kDimension = 20000;
  const auto draw = [](uint64_t seed, int64_t node, int64_t round) {
    QuadraticObjective objective(
        {.optimum = std::vector<float>(kDimension, 0.0f), .noise = 2, .seed = seed, .node = node});
    const std::vector<float> x(kDimension, 0.0f);
    std::vector<float> gradient(kDimension);
    EXPECT_TRUE(objective.Gradient(x.data(), round, gradient.data()).ok());
    return gradient;
  };
  const std::vector<float> noise = draw(1, 2, 3);
  double sum = 0, squares = 0;
  for (float value : noise) {
    sum += value;
    squares += double{value} * value;
  }
  EXPECT_NEAR(sum / kDimension, 0, 0.06);  // 4 deviations
  EXPECT_NEAR(squares / kDimension, 4, 0.16);
  EXPECT_EQ(noise, draw(1, 2, 3));
  EXPECT_NE(noise, draw(2, 2, 3));
  EXPECT_NE(noise, draw(1, 3, 3));
  EXPECT_NE(noise, draw(1, 2, 4));
}

// What nodes exchange are numbers, and memory that was never written may hold none.
TEST(PhantomObjectiveTest, ClearsAGradientOnceAndLeavesItAlone) {
  PhantomObjective objective({.elements = 3, .batch_size = 8});
  EXPECT_EQ(objective.layout().size, 3);
  EXPECT_EQ(objective.layout().parameter_size, 3);
  EXPECT_EQ(objective.batch_size(), 8);
  std::vector<float> replica(3, 9), gradient(3, 7);
  objective.Initialize(replica.data());
  EXPECT_EQ(replica, std::vector<float>(3, 0));
  ASSERT_TRUE(objective.Gradient(replica.data(), 0, gradient.data()).ok());
  EXPECT_EQ(gradient, std::vector<float>(3, 0));
  gradient.assign(3, 7);
  ASSERT_TRUE(objective.Gradient(replica.data(), 1, gradient.data()).ok());
  EXPECT_EQ(gradient, std::vector<float>(3, 7));
}

}  // namespace
}  // namespace grapevine
