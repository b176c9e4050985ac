// Runs whose rounds follow from their evaluations: what is known of a round never changes once it
// is settled, and every sample and every evaluation has its place.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/view.h"
#include "experiment/core/run_course.h"
#include "experiment/core/run_plan.h"
#include "optim/batch_schedule.h"
#include "random/keyed_random.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;

RunPlan Plan(int64_t first_batches, double evaluate_every, const std::string& schedule) {
  RunPlan plan{.extent = {.rounds_per_epoch = 10, .rounds = first_batches},
               .passes = 3,
               .evaluate_every = evaluate_every};
  plan.batches = *BatchSchedule::Make(schedule, plan.extent);
  plan.rounds = plan.batches.RoundsFor(first_batches);
  return plan;
}

Schedule Constant() {
  return [](int64_t) { return 0.1; };
}

// A model whose loss, after so many rounds, is this; and whose accuracy is 0.
EvaluationRecord Loss(Round round, double loss) {
  return {.round = round, .test_loss = loss, .test_accuracy = 0};
}

std::vector<Round> Evaluations(const RunPlan& plan) {
  std::vector<Round> evaluated;
  for (Round completed = 1; completed <= plan.rounds; ++completed) {
    if (plan.Evaluated(completed)) evaluated.push_back(completed);
  }
  return evaluated;
}

TEST(RunHorizon, WithoutAnythingToDecideTheRunIsSettled) {
  RunCourse course(Plan(40, 10, "step"), Constant());
  RunHorizon horizon(std::nullopt, &course);
  EXPECT_EQ(horizon.limit(), 20 + 5 + 3);
  EXPECT_TRUE(horizon.final());
  EXPECT_FALSE(horizon.OnEvaluation(Loss(10, 1)));
  EXPECT_EQ(horizon.growth(), 0);
}

TEST(RunHorizon, WhereNodesMayBeLostTheLastEvaluationEndsTheRun) {
  RunCourse course(Plan(40, 10, "none"), Constant());
  RunHorizon horizon(std::nullopt, &course, /*settles_last=*/true);
  EXPECT_EQ(horizon.limit(), 40);
  EXPECT_FALSE(horizon.final());
  EXPECT_FALSE(horizon.OnEvaluation(Loss(10, 1)));
  EXPECT_FALSE(horizon.OnEvaluation(Loss(30, 1))) << "that of round 20 was missed";
  EXPECT_FALSE(horizon.final());
  EXPECT_TRUE(horizon.OnEvaluation(Loss(40, 1)));
  EXPECT_TRUE(horizon.final());
  EXPECT_FALSE(horizon.OnEvaluation(Loss(40, 1))) << "of fewer nodes, once more";
}

TEST(RunHorizon, ATargetEndsTheRunOneEvaluationAfterItIsMet) {
  RunCourse course(Plan(40, 10, "none"), Constant());
  RunHorizon horizon(0.9, &course);
  EXPECT_EQ(horizon.limit(), 20);
  EXPECT_TRUE(horizon.OnEvaluation({.round = 10, .test_accuracy = 0.5}));
  EXPECT_EQ(horizon.limit(), 30);
  EXPECT_FALSE(horizon.final());
  EXPECT_TRUE(horizon.OnEvaluation({.round = 20, .test_accuracy = 0.9}));
  EXPECT_EQ(horizon.limit(), 30);
  EXPECT_TRUE(horizon.final());
  EXPECT_TRUE(horizon.reached());
  EXPECT_FALSE(horizon.OnEvaluation({.round = 30, .test_accuracy = 0.95}));
}

TEST(RunHorizon, WhereNodesMayBeLostSoDoesTheOneAfterATargetIsMet) {
  RunCourse course(Plan(40, 10, "none"), Constant());
  RunHorizon horizon(0.9, &course, /*settles_last=*/true);
  EXPECT_FALSE(horizon.OnEvaluation({.round = 10, .test_accuracy = 0.9}));
  EXPECT_TRUE(horizon.reached());
  EXPECT_FALSE(horizon.final());
  EXPECT_TRUE(horizon.OnEvaluation({.round = 20, .test_accuracy = 0.1}));
  EXPECT_EQ(horizon.limit(), 20);
  EXPECT_TRUE(horizon.reached());
  EXPECT_TRUE(horizon.final());
}

TEST(RunHorizon, ATargetThatTheLastEvaluationMeetsIsMet) {
  RunCourse course(Plan(20, 10, "none"), Constant());
  RunHorizon horizon(0.9, &course);
  EXPECT_FALSE(horizon.OnEvaluation({.round = 10, .test_accuracy = 0.5}));
  EXPECT_TRUE(horizon.OnEvaluation({.round = 20, .test_accuracy = 0.9}));
  EXPECT_TRUE(horizon.reached());
}

// 8 evaluations, 10 first batches apart. The plateau that the third shows lets the batch grow from
// the fourth on.
TEST(RunHorizon, WhatAnEvaluationDecidesTakesEffectAtTheNext) {
  RunCourse course(Plan(80, 10, "plateau:factor=2:patience=2:most=1"), Constant());
  RunHorizon horizon(std::nullopt, &course);
  EXPECT_EQ(horizon.limit(), 20);
  EXPECT_EQ(horizon.growth(), 1);
  EXPECT_FALSE(horizon.final());
  ASSERT_TRUE(horizon.OnEvaluation(Loss(10, 1)));
  EXPECT_EQ(horizon.limit(), 30);
  ASSERT_TRUE(horizon.OnEvaluation(Loss(20, 1)));
  EXPECT_EQ(horizon.limit(), 40);
  EXPECT_EQ(horizon.growth(), 1);
  ASSERT_TRUE(horizon.OnEvaluation(Loss(30, 1)));
  EXPECT_EQ(horizon.limit(), 45) << "40 first batches, and 5 of twice as many";
  EXPECT_EQ(horizon.growth(), 2);
  EXPECT_EQ(course.PassesIn(39).count, 3);
  EXPECT_EQ(course.PassesIn(40).count, 6);
  EXPECT_EQ(course.PassesIn(40).first, 120);
  ASSERT_TRUE(horizon.OnEvaluation(Loss(40, 1)));
  ASSERT_TRUE(horizon.OnEvaluation(Loss(45, 1)));
  EXPECT_EQ(horizon.limit(), 55);
  EXPECT_FALSE(horizon.final());
  ASSERT_TRUE(horizon.OnEvaluation(Loss(50, 1)));
  EXPECT_EQ(horizon.limit(), 60);
  EXPECT_TRUE(horizon.final());
  EXPECT_FALSE(horizon.OnEvaluation(Loss(55, 1)));
  EXPECT_FALSE(horizon.OnEvaluation(Loss(60, 1)));
  EXPECT_EQ(course.plan().rounds, 60);
  EXPECT_DOUBLE_EQ(course.At(60).epoch, 8);
  EXPECT_THAT(Evaluations(course.plan()), ElementsAre(10, 20, 30, 40, 45, 50, 55, 60));
}

TEST(RunHorizon, ATargetEndsARunWhoseBatchGrows) {
  RunCourse course(Plan(80, 10, "plateau:patience=1"), Constant());
  RunHorizon horizon(0.9, &course);
  ASSERT_TRUE(horizon.OnEvaluation(Loss(10, 1)));
  ASSERT_TRUE(horizon.OnEvaluation(Loss(20, 1)));
  EXPECT_EQ(horizon.limit(), 35);
  ASSERT_TRUE(horizon.OnEvaluation({.round = 30, .test_loss = 1, .test_accuracy = 1}));
  EXPECT_EQ(horizon.limit(), 35);
  EXPECT_TRUE(horizon.final());
}

TEST(RunCourse, AnotherNodesHasWhatWasSettled) {
  RunCourse rank_zero(Plan(80, 10, "plateau:patience=1"), Constant()),
      other(Plan(80, 10, "plateau:patience=1"), Constant());
  RunHorizon horizon(std::nullopt, &rank_zero);
  other.Settle(horizon.limit(), 1);
  for (const Round completed : {10, 20, 30}) {
    ASSERT_TRUE(horizon.OnEvaluation(Loss(completed, 1)));
    for (const int64_t repeated : {0, 1}) {
      other.Settle(horizon.limit() - repeated, horizon.growth());
    }
  }
  EXPECT_EQ(other.plan().rounds, rank_zero.plan().rounds);
  for (Round round = 0; round < horizon.limit(); ++round) {
    EXPECT_EQ(other.PassesIn(round).first, rank_zero.PassesIn(round).first);
    EXPECT_EQ(other.PassesIn(round).count, rank_zero.PassesIn(round).count);
  }
}

TEST(RunCourseDeathTest, ARoundThatIsNotSettledHasNoBatch) {
  RunCourse course(Plan(80, 10, "plateau"), Constant());
  course.Settle(20, 1);
  EXPECT_EQ(course.PassesIn(19).count, 3);
  EXPECT_DEATH((void)course.PassesIn(20), "the batch of round 20 is not settled");
}

class RandomRun {
 public:
  explicit RandomRun(uint64_t seed) : random_(seed, Purpose::kGradientNoise) {}

  RunPlan DrawPlan() {
    const auto first_batches = static_cast<int64_t>(50 + random_.Below(400));
    const double every = 0.3 + 40 * random_.Unit();
    std::string schedule = "plateau:threshold=0.1";
    for (const auto& [option, choices] : {std::pair("factor", 4), {"patience", 3}, {"most", 4}}) {
      const auto drawn = static_cast<int64_t>(random_.Below(static_cast<uint64_t>(choices)));
      absl::StrAppend(&schedule, ":", option, "=", drawn + (option[0] == 'f' ? 2 : 1));
    }
    return Plan(first_batches, every, schedule);
  }
  double DrawLoss() { return random_.Unit(); }

 private:
  KeyedRandom random_;
};

// What a node may ask of a round that it has begun or completed.
std::string Answers(const RunCourse& course, Round round) {
  const Passes passes = course.PassesIn(round);
  const TrainingPoint point = course.At(round + 1);
  return absl::StrCat(passes.first, "+", passes.count, " epoch ", point.epoch, " rate ",
                      point.learning_rate, course.Evaluated(round + 1) ? " evaluated" : "",
                      course.Measured(round + 1) ? " measured" : "");
}

// Whatever the losses: the samples are in order, each in one round; each interval's end is
// evaluated, in the first round that has seen it; a batch grows where an evaluation was; and what
// was said of a settled round is never taken back.
TEST(RunHorizon, KeepsSamplesEvaluationsAndItsWord) {
  for (const uint64_t seed : testing::Seeds(300)) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RandomRun draw(seed);
    RunCourse course(draw.DrawPlan(), [](int64_t first) { return 1.0 / (1.0 + first); });
    RunHorizon horizon(std::nullopt, &course);
    std::vector<std::string> said;
    const auto hear = [&] {
      while (static_cast<Round>(said.size()) < horizon.limit()) {
        said.push_back(Answers(course, static_cast<Round>(said.size())));
      }
    };
    hear();
    for (Round completed = 1; completed <= horizon.limit(); ++completed) {
      if (!course.Evaluated(completed)) continue;
      ASSERT_TRUE(completed < horizon.limit() || horizon.final()) << "it stands still";
      horizon.OnEvaluation(Loss(completed, draw.DrawLoss()));
      hear();
    }
    const RunPlan plan = course.plan();
    ASSERT_TRUE(horizon.final());
    ASSERT_EQ(horizon.limit(), plan.rounds);
    int64_t passes = 0;
    for (Round round = 0; round < plan.rounds; ++round) {
      ASSERT_EQ(Answers(course, round), said[static_cast<size_t>(round)]) << "round " << round;
      ASSERT_EQ(course.PassesIn(round).first, passes) << "round " << round;
      passes += course.PassesIn(round).count;
    }
    EXPECT_GE(passes, plan.passes * plan.extent.rounds);
    EXPECT_LT(passes - course.PassesIn(plan.rounds - 1).count, plan.passes * plan.extent.rounds);
    const std::vector<Round> evaluated = Evaluations(plan);
    EXPECT_EQ(evaluated.back(), plan.rounds);
    for (double position = plan.evaluate_every;
         position < static_cast<double>(plan.extent.rounds) - 1e-6;
         position += plan.evaluate_every) {
      const auto seen = static_cast<int64_t>(std::ceil(position - 1e-6));
      EXPECT_TRUE(plan.Evaluated(plan.batches.RoundsFor(seen))) << "after " << position;
    }
    for (const BatchSchedule::Stage& stage : plan.batches.stages()) {
      EXPECT_TRUE(stage.round == 0 || plan.Evaluated(stage.round)) << stage.round;
    }
  }
}

// 40 first batches, and rounds of twice as many from the 20th on: 4 epochs in 30 rounds.
TEST(RunPlan, EpochsAreOfTheWorkersWhoAreLeft) {
  RunPlan plan = Plan(40, 10, "step:at=2:factor=2");
  plan.sharing = 8;
  ASSERT_EQ(plan.Epoch(30), 4);
  const RunPlan left = plan.Among(10, 6).Among(25, 2);
  EXPECT_EQ(left.rounds, plan.rounds);
  EXPECT_EQ(Evaluations(left), Evaluations(plan));
  EXPECT_EQ(left.Epoch(0), 0);
  EXPECT_EQ(left.Epoch(10), 1) << "until then, all";
  EXPECT_EQ(left.Epoch(20), 1.75);
  EXPECT_EQ(left.Epoch(25), 2.5);
  EXPECT_EQ(left.Epoch(30), 2.75);
  EXPECT_EQ(plan.Among(10, 3).Among(10, 6).Among(25, 2).Epoch(30), 2.75) << "the later one holds";
  plan.sharing = 0;
  EXPECT_EQ(plan.Among(10, 6).Epoch(30), 4) << "without data, rounds";
}

TEST(RunCourse, GoesOnWithTheViewsThatNodesBegin) {
  RunPlan plan = Plan(40, 10, "none");
  plan.sharing = 4;
  RunCourse course(plan, Constant());
  course.GoOn(FirstView(4));
  EXPECT_FALSE(course.ViewAfter(0).has_value());
  EXPECT_EQ(course.At(40).epoch, 4);
  const View three{.epoch = 1, .from = 10, .members = {0, 1, 3}};
  const View two{.epoch = 2, .from = 10, .members = {0, 3}};
  for (const View& view : {three, two, three, two}) course.GoOn(view);  // of two nodes
  EXPECT_EQ(course.ViewAfter(0), three);
  EXPECT_EQ(course.ViewAfter(1), two);
  EXPECT_FALSE(course.ViewAfter(2).has_value());
  EXPECT_EQ(course.At(10).epoch, 1);
  EXPECT_EQ(course.At(40).epoch, 2.5);
}

TEST(RunPlan, TheNextEvaluationIsTheFirstOne) {
  for (const uint64_t seed : testing::Seeds(100)) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RunPlan plan = RandomRun(seed).DrawPlan();
    plan = plan.Grown(static_cast<Round>(20 + seed % 20), 3);
    Round next = plan.rounds;
    for (Round completed = plan.rounds - 1; completed >= 0; --completed) {
      ASSERT_EQ(plan.NextEvaluation(completed), next) << "after " << completed;
      if (plan.Evaluated(completed)) next = completed;
    }
  }
}

TEST(OpenEndedRun, IsNotSettledBeforeItCloses) {
  RunPlan plan = Plan(1000, 5, "none");
  plan.open_ended = true;
  RunCourse course(plan, Constant());
  RunHorizon horizon(std::nullopt, &course);
  EXPECT_FALSE(horizon.final());
  EXPECT_FALSE(horizon.OnEvaluation(Loss(5, 1)));
  EXPECT_FALSE(course.Evaluated(8));
  course.Close(8);
  EXPECT_TRUE(course.Evaluated(8)) << "the last";
  EXPECT_TRUE(course.Measured(8));
  EXPECT_EQ(course.plan().rounds, 8);
  horizon.Close(8);
  EXPECT_TRUE(horizon.final());
  EXPECT_EQ(horizon.limit(), 8);
}

TEST(OpenEndedRun, MayWaitForItsLastEvaluation) {
  RunPlan plan = Plan(1000, 5, "none");
  plan.open_ended = true;
  RunCourse course(plan, Constant());
  RunHorizon horizon(std::nullopt, &course, /*settles_last=*/true);
  EXPECT_FALSE(horizon.OnEvaluation(Loss(5, 1)));
  horizon.Close(8);
  EXPECT_FALSE(horizon.final());
  EXPECT_TRUE(horizon.OnEvaluation(Loss(8, 1)));
  EXPECT_TRUE(horizon.final());
}

TEST(OpenEndedRun, OthersDoNotClose) {
  RunCourse course(Plan(100, 5, "none"), Constant());
  course.Close(8);
  EXPECT_EQ(course.plan().rounds, 100);
}

}  // namespace
}  // namespace grapevine
