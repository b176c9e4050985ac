#include "run/records/measurement.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <vector>

namespace grapevine {
namespace {

using std::chrono::milliseconds;

constexpr TrainingPoint kPoint{.round = 4, .epoch = 0.5, .learning_rate = 0.1};

TEST(MeasureNode, ShowsWhereTheTimeSinceTheLastLineWent) {
  NodeWork work;
  work.AddGradient(2.0, 1, milliseconds(200));
  work.AddGradient(3.0, 1, milliseconds(400));
  work.mix = milliseconds(100);
  work.time = milliseconds(1000);
  const NodeMetrics line =
      MeasureNode(kPoint, milliseconds(5000), work, /*batch=*/8, /*learns=*/true);
  EXPECT_EQ(line.round, 4);
  EXPECT_EQ(line.epoch, 0.5);
  EXPECT_EQ(line.learning_rate, 0.1);
  EXPECT_DOUBLE_EQ(line.time_s, 5);
  EXPECT_DOUBLE_EQ(*line.train_loss, 2.5);
  EXPECT_DOUBLE_EQ(*line.gradient_s, 0.6);
  EXPECT_DOUBLE_EQ(*line.mix_s, 0.1);
  EXPECT_DOUBLE_EQ(*line.wait_s, 0.3);
  EXPECT_DOUBLE_EQ(*line.samples_per_s, 16);
  EXPECT_FALSE(line.gradient_variance || line.gradient_square || line.noise_scale);
}

TEST(MeasureNode, ALossThatNobodyKnowsIsNotThere) {
  NodeWork work;
  work.AddGradient(std::nan(""), 3, milliseconds(200));
  EXPECT_FALSE(MeasureNode(kPoint, {}, work, /*batch=*/8, /*learns=*/true).train_loss.has_value());
  work.AddGradient(2.0, 1, milliseconds(200));
  work.AddGradient(4.0, 1, milliseconds(200));
  const NodeMetrics line = MeasureNode(kPoint, {}, work, /*batch=*/8, /*learns=*/true);
  EXPECT_DOUBLE_EQ(*line.train_loss, 3) << "the mean of those that are known";
  EXPECT_DOUBLE_EQ(*line.gradient_s, 0.6);
}

TEST(MeasureNode, CountsPassesWhereAGradientHasSeveral) {
  NodeWork work;
  work.AddGradient(2.0, 1, milliseconds(200));
  work.AddGradient(3.0, 3, milliseconds(600));
  work.time = milliseconds(1000);
  const NodeMetrics line = MeasureNode(kPoint, {}, work, /*batch=*/8, /*learns=*/true);
  EXPECT_DOUBLE_EQ(*line.train_loss, 2.75) << "of 32 samples";
  EXPECT_DOUBLE_EQ(*line.samples_per_s, 32);
  EXPECT_EQ(work.gradients, 2);
}

TEST(MeasureNode, NormsAreOfTheLastGradientThatHasThem) {
  NodeWork work;
  const std::vector<TensorNorms> earlier = {{"x", 1, 2, 3}}, later = {{"x", 1, 4, 5}};
  work.AddGradient(2.0, 1, milliseconds(200), {}, earlier);
  work.AddGradient(2.0, 1, milliseconds(200), {}, later);
  work.AddGradient(2.0, 1, milliseconds(200));
  const NodeMetrics line = MeasureNode(kPoint, {}, work, /*batch=*/8, /*learns=*/true);
  ASSERT_EQ(line.norms.size(), 1u);
  EXPECT_EQ(line.norms[0].weights, 4);
  EXPECT_EQ(line.norms[0].gradient, 5);
}

TEST(MeasureNode, NoiseIsTheMeanOverTheGradientsThatHaveIt) {
  NodeWork work;
  work.AddGradient(2.0, 1, milliseconds(200));
  work.AddGradient(3.0, 2, milliseconds(400), {.variance = 7, .square = 3, .gradients = 1});
  work.AddGradient(3.0, 2, milliseconds(400), {.variance = 5, .square = -1, .gradients = 1});
  const NodeMetrics line = MeasureNode(kPoint, {}, work, /*batch=*/8, /*learns=*/true);
  EXPECT_DOUBLE_EQ(*line.gradient_variance, 6);
  EXPECT_DOUBLE_EQ(*line.gradient_square, 1);
  EXPECT_DOUBLE_EQ(*line.noise_scale, 6) << "the ratio of the means";
  const RunWork all{.time_s = 1, .noise = work.noise};
  const RunMetrics run = RunMeter().Measure(kPoint, all, std::nullopt);
  EXPECT_EQ(run.gradient_variance, line.gradient_variance);
  EXPECT_EQ(run.noise_scale, line.noise_scale);
}

TEST(MeasureNode, WhoComputesWhileItMixesDoesNotWaitLessThanNotAtAll) {
  const NodeWork work{
      .gradient = milliseconds(800), .mix = milliseconds(400), .time = milliseconds(1000)};
  EXPECT_EQ(MeasureNode(kPoint, {}, work, 8, true).wait_s, 0);
}

TEST(MeasureNode, LeavesOutWhatANodeDoesNotDo) {
  const NodeMetrics server = MeasureNode(kPoint, {}, {.time = milliseconds(10)}, 8, true);
  EXPECT_FALSE(server.train_loss || server.gradient_s || server.samples_per_s);
  EXPECT_DOUBLE_EQ(*server.wait_s, 0.01);

  NodeWork work;
  work.AddGradient(0, 1, milliseconds(0));
  const NodeMetrics phantom = MeasureNode(kPoint, {}, work, 8, /*learns=*/false);
  EXPECT_FALSE(phantom.train_loss.has_value());
  EXPECT_TRUE(phantom.gradient_s.has_value());
  EXPECT_FALSE(phantom.samples_per_s.has_value()) << "in no time";
}

TEST(MeasureNode, SaysForWhomItWaitedEvenIfForNobody) {
  NodeWork work{.time = milliseconds(10)};
  const auto waited_for = [&work] { return *MeasureNode(kPoint, {}, work, 8, true).waited_for; };
  EXPECT_TRUE(waited_for().empty());
  work.awaited.Add(3, milliseconds(2));
  work.awaited.Add(1, milliseconds(5));
  ASSERT_EQ(waited_for().size(), 2u);
  EXPECT_EQ(waited_for()[0].rank, 1);
  EXPECT_DOUBLE_EQ(waited_for()[0].seconds, 0.005);
  EXPECT_EQ(waited_for()[1].rank, 3);
}

TEST(AddLongestWaits, KeepsTheLongestOfAllRanks) {
  std::map<int64_t, AwaitedPeers> nodes;
  for (Rank rank = 0; rank < 8; ++rank) {
    nodes[rank].Add(rank + 1, milliseconds(10 + rank % 4));
    nodes[rank].Add(rank + 2, milliseconds(1));
  }
  Summary summary;
  AddLongestWaits(nodes, &summary);
  ASSERT_EQ(summary.longest_waits->size(), Summary::kMostLongestWaits);
  EXPECT_EQ(summary.longest_waits->at(0).rank, 3) << "the lower rank first among equals";
  EXPECT_EQ(summary.longest_waits->at(0).peer, 4);
  EXPECT_DOUBLE_EQ(summary.longest_waits->at(0).seconds, 0.013);
  EXPECT_EQ(summary.longest_waits->at(1).rank, 7);
  EXPECT_DOUBLE_EQ(summary.longest_waits->at(9).seconds, 0.001);
  AddLongestWaits({}, &summary);
  EXPECT_TRUE(summary.longest_waits->empty()) << "known, and none";
}

TEST(AddTotals, CountsWorkersGradientsAndWhoeverAppliedThem) {
  const std::vector<NodeTotals> nodes = {
      {.gradients = 30, .gradient_s = 6, .time_s = 8},
      {.gradients = 10, .gradient_s = 5, .time_s = 4},  // an overlap of lines
      {.time_s = 8, .applied = 30, .staleness_mean = 2, .staleness_max = 5},
      {.time_s = 8, .applied = 10, .staleness_mean = 4, .staleness_max = 9}};
  Summary summary;
  AddTotals(nodes, /*workers=*/2, &summary);
  EXPECT_DOUBLE_EQ(summary.gradients->min, 10);
  EXPECT_DOUBLE_EQ(summary.gradients->mean, 20);
  EXPECT_DOUBLE_EQ(summary.gradients->max, 30);
  EXPECT_DOUBLE_EQ(summary.idle_s->min, 0);
  EXPECT_DOUBLE_EQ(summary.idle_s->max, 2);
  EXPECT_DOUBLE_EQ(*summary.staleness_mean, 2.5);
  EXPECT_EQ(summary.staleness_max, 9);
}

TEST(AddTotals, WhereNothingWasAppliedThereIsNoStaleness) {
  const std::vector<NodeTotals> nodes = {{.gradients = 3, .gradient_s = 1, .time_s = 2}};
  Summary summary;
  AddTotals(nodes, /*workers=*/1, &summary);
  EXPECT_TRUE(summary.gradients && summary.idle_s);
  EXPECT_FALSE(summary.staleness_mean || summary.staleness_max);
}

TEST(AddSteps, AveragesOverStepsAndNamesWhoeverHasTheMostWork) {
  Summary summary;
  AddSteps({{0, {.count = 10, .time_s = 20, .gradient_s = 5, .mix_s = 1, .wait_s = 14}},
            {1, {}},  // a parameter server
            {2, {.count = 30, .time_s = 60, .gradient_s = 45, .mix_s = 3, .wait_s = 12}}},
           &summary);
  ASSERT_TRUE(summary.steps && summary.slowest_node);
  EXPECT_EQ(summary.steps->count, 40);
  EXPECT_DOUBLE_EQ(summary.steps->mean_s, 2);
  EXPECT_DOUBLE_EQ(summary.steps->gradient_s, 1.25);
  EXPECT_DOUBLE_EQ(summary.steps->mix_s, 0.1);
  EXPECT_DOUBLE_EQ(summary.steps->wait_s, 0.65);
  EXPECT_EQ(summary.slowest_node->rank, 2);
  EXPECT_EQ(summary.slowest_node->steps.count, 30);
  EXPECT_DOUBLE_EQ(summary.slowest_node->steps.wait_s, 0.4);
}

TEST(AddSteps, OneNodeIsNotTheSlowestAndNoneHasNoMean) {
  Summary summary;
  AddSteps({{0, {}}}, &summary);
  EXPECT_FALSE(summary.steps || summary.slowest_node);
  AddSteps({{0, {.count = 1, .time_s = 1}}, {1, {}}}, &summary);
  EXPECT_TRUE(summary.steps.has_value());
  EXPECT_FALSE(summary.slowest_node.has_value());
}

TEST(StepsOf, AreTheGradientsOfAWorkerAndNoneOfAServer) {
  NodeWork work;
  work.AddGradient(1, 2, milliseconds(30));
  work.AddGradient(1, 2, milliseconds(30));
  work.mix = milliseconds(20);
  work.time = milliseconds(100);
  const StepSums steps = StepsOf(work, MeasureNode(kPoint, {}, work, 8, true));
  EXPECT_EQ(steps.count, 2);
  EXPECT_DOUBLE_EQ(steps.time_s, 0.1);
  EXPECT_DOUBLE_EQ(steps.gradient_s, 0.06);
  EXPECT_DOUBLE_EQ(steps.mix_s, 0.02);
  EXPECT_DOUBLE_EQ(steps.wait_s, 0.02);
  const NodeWork server{.time = milliseconds(10)};
  EXPECT_EQ(StepsOf(server, MeasureNode(kPoint, {}, server, 8, true)).count, 0);
}

TEST(RunMeter, RatesCountFromTheLastWorkAndEvaluationsAddUp) {
  RunMeter meter;
  RunWork work{.time_s = 2, .loss_sum = 30, .losses = 10, .samples = 80, .bytes_sent = 7};
  const RunMetrics first = meter.Measure(kPoint, work, std::nullopt);
  EXPECT_DOUBLE_EQ(*first.train_loss, 3);
  EXPECT_DOUBLE_EQ(*first.samples_per_s, 40);
  EXPECT_EQ(first.bytes_sent_total, 7);
  EXPECT_EQ(first.evaluation_bytes_sent_total, 0);
  EXPECT_FALSE(first.test_accuracy.has_value());

  const RunMetrics alone = meter.MeasureModel({.round = 5, .epoch = 0.6}, /*time_s=*/1,
                                              {.test_accuracy = 0.5, .bytes_sent = 100});
  EXPECT_EQ(alone.time_s, 2) << "time does not go back";
  EXPECT_EQ(alone.evaluation_bytes_sent_total, 100);
  EXPECT_FALSE(alone.samples_per_s.has_value());

  work.time_s = 4;
  const RunMetrics second =
      meter.Measure({.round = 6}, work, EvaluationRecord{.test_accuracy = 0.75, .bytes_sent = 60});
  EXPECT_DOUBLE_EQ(*second.samples_per_s, 40);
  EXPECT_EQ(second.evaluation_bytes_sent_total, 160) << "of fewer nodes";
  EXPECT_EQ(meter.latest().round, 6);
  EXPECT_EQ(meter.latest().test_accuracy, 0.75);
}

TEST(RunMeter, AnEvaluationKnowsDistancesBetter) {
  RunMeter meter;
  const RunWork work{.time_s = 1, .consensus_distance = 0.3};
  EXPECT_EQ(meter.Measure(kPoint, work, std::nullopt).consensus_distance, 0.3);
  EXPECT_EQ(
      meter.Measure(kPoint, work, EvaluationRecord{.consensus_distance = 0.25}).consensus_distance,
      0.25);
}

}  // namespace
}  // namespace grapevine
