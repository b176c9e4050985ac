#include "experiment/core/evaluation_times.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "model/datasets/dataset_kind.h"
#include "run/config/config_resolve.h"

namespace grapevine {
namespace {

constexpr int64_t kTrain = 60000;
constexpr int64_t kTest = 10000;

EvaluationTimes OfEpochs(double epochs) {
  return ChooseEvaluations(epochs, /*rounds=*/epochs * 468.75, kTrain, kTest);
}

// What evaluations before the last one take, of what gradients take.
double CostOf(double epochs, const EvaluationTimes& times) {
  const double samples = static_cast<double>(times.samples == 0 ? kTest : times.samples);
  const double before_the_end = std::ceil(epochs / times.every - 1e-9) - 1;
  return before_the_end * samples / (3 * epochs * kTrain);
}

TEST(ChooseEvaluations, AreTwentyOrMoreAndTakeLessThanATwentieth) {
  for (double epochs = 0.5; epochs < 1000; epochs *= 1.1) {
    SCOPED_TRACE(epochs);
    const EvaluationTimes times = OfEpochs(epochs);
    EXPECT_GE(epochs / times.every, 20 - 1e-9);
    EXPECT_LE(CostOf(epochs, times), 0.05);
  }
}

TEST(ChooseEvaluations, SeeAPartOfTheTestSetInShortRunsAlone) {
  EXPECT_EQ(OfEpochs(1).samples, 450);
  EXPECT_EQ(OfEpochs(10).samples, 4500);
  EXPECT_EQ(OfEpochs(23).samples, 0);
}

TEST(ChooseEvaluations, SeeEnoughSamplesForAnAccuracy) {
  EXPECT_EQ(ChooseEvaluations(3, 47, /*train=*/2000, /*test=*/500).samples, 200);
  EXPECT_EQ(ChooseEvaluations(3, 47, /*train=*/2000, /*test=*/200).samples, 0) << "all there are";
}

TEST(ChooseEvaluations, AreAtEndsOfEpochsInLongRuns) {
  EXPECT_EQ(OfEpochs(40).every, 2);
  EXPECT_EQ(OfEpochs(100).every, 2);
  EXPECT_EQ(OfEpochs(30).every, 1.5);  // twenty are wanted
  EXPECT_EQ(ChooseEvaluations(100, 1e5, /*train=*/100000, /*test=*/1000).every, 1);
}

// Else what moves the models to where they are averaged would be much of what a run sends.
TEST(ChooseEvaluations, AreNoMoreThanOneInTwoRounds) {
  EXPECT_EQ(ChooseEvaluations(1, 10, kTrain, kTest).every, 0.2);
  EXPECT_EQ(ChooseEvaluations(0.001, 3, kTrain, kTest).every, 0.001);
}

TEST(ChooseEvaluations, AreAtTheEndOfEveryEpoch) {
  EXPECT_EQ(OfEpochs(3).every, 1.0 / 7);
  EXPECT_EQ(OfEpochs(15).every, 0.5);
  EXPECT_EQ(ChooseEvaluations(4, 12, kTrain, kTest).every, 1) << "six would fit";
}

TEST(ChooseEvaluations, AreNeverFewerThanOneInAnEpoch) {
  EXPECT_EQ(ChooseEvaluations(4, 8, kTrain, kTest).every, 1);
}

EvaluationTimes OfSettings(const std::map<std::string, std::string>& flags) {
  const auto resolved = ResolveConfig({.flags = flags});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  const TrainTest data = *MakeDataset("synthetic:train=10000:test=2000");
  return EvaluationsOf(resolved->config, {.rounds_per_epoch = 100, .rounds = 400}, &data);
}

TEST(EvaluationsOf, AreChosen) {
  const EvaluationTimes times = OfSettings({});
  EXPECT_EQ(times.every, 0.2);
  EXPECT_EQ(times.samples, 300);
}

TEST(EvaluationsOf, AreAsTheUserSays) {
  EXPECT_EQ(OfSettings({{"eval_every", "0.5"}}).every, 0.5);
  EXPECT_EQ(OfSettings({{"eval_every", "0.5"}}).samples, 0);
  EXPECT_EQ(OfSettings({{"eval_samples", "7"}}).every, 0.2);
  EXPECT_EQ(OfSettings({{"eval_samples", "7"}}).samples, 7);
}

TEST(EvaluationsOf, ThatDecideSeeAllOfTheTestSet) {
  for (const auto& deciding :
       {std::pair("target_accuracy", "0.9"), std::pair("batch_schedule", "plateau")}) {
    EXPECT_EQ(OfSettings({deciding}).every, 1);
    EXPECT_EQ(OfSettings({deciding}).samples, 0);
  }
}

}  // namespace
}  // namespace grapevine
