
#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "optim/batch_schedule.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The evaluations, from 1 on, after which the batch is to grow.
std::vector<int> Decisions(const PlateauRule& rule, const std::vector<double>& losses) {
  PlateauWatch watch(rule);
  std::vector<int> decisions;
  for (size_t i = 0; i < losses.size(); ++i) {
    if (watch.OnLoss(losses[i])) decisions.push_back(static_cast<int>(i) + 1);
  }
  return decisions;
}

TEST(PlateauWatch, ALossThatFallsIsNoPlateau) {
  EXPECT_THAT(Decisions({}, {5, 4, 3, 2, 1, 0.9, 0.8, 0.7}), IsEmpty());
}

TEST(PlateauWatch, TakesSoManyEvaluationsOnEndWithoutProgress) {
  EXPECT_THAT(Decisions({.patience = 2}, {5, 5, 5, 4}), ElementsAre(3));
  EXPECT_THAT(Decisions({.patience = 2}, {5, 5, 4, 4, 3, 3, 2}), IsEmpty());
  EXPECT_THAT(Decisions({.patience = 1}, {5, 4, 4, 3}), ElementsAre(3));
  EXPECT_THAT(Decisions({.patience = 4}, {5, 6, 7, 6, 7}), ElementsAre(5));
}

// One that falls slowly makes progress as soon as it has fallen by the threshold since the lowest.
TEST(PlateauWatch, ProgressIsAShareOfTheLowestLoss) {
  EXPECT_THAT(Decisions({.patience = 2, .threshold = 0.01}, {1, 0.995, 0.991, 0.98}),
              ElementsAre(3));
  EXPECT_THAT(Decisions({.patience = 2, .threshold = 0.01}, {1, 0.995, 0.989, 0.985, 0.978}),
              IsEmpty());
  EXPECT_THAT(Decisions({.patience = 2, .threshold = 0}, {1, 0.999, 0.998, 0.997}), IsEmpty());
  EXPECT_THAT(Decisions({.patience = 2, .threshold = 0}, {1, 1, 1}), ElementsAre(3));
  EXPECT_THAT(Decisions({.patience = 2, .threshold = 0.1}, {-1, -1.05, -1.09, -1.2}),
              ElementsAre(3))
      << "below zero, too, the threshold is downwards";
}

// Decided after 3, in effect after 4: of 4 nothing follows, and 6 is the second without progress.
TEST(PlateauWatch, TheEvaluationBeforeAGrowthTakesEffectDoesNotCount) {
  EXPECT_THAT(Decisions({.patience = 2}, {5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}),
              ElementsAre(3, 6, 9));
  EXPECT_THAT(Decisions({.patience = 1}, {5, 5, 5, 5, 5, 5, 5, 5}), ElementsAre(2, 4, 6));
  EXPECT_THAT(Decisions({.patience = 2}, {5, 5, 5, 4, 4, 4, 4}), ElementsAre(3, 6))
      << "its progress does";
}

TEST(PlateauWatch, GrowsSoManyTimes) {
  EXPECT_THAT(Decisions({.patience = 1, .most = 2}, std::vector<double>(20, 1.0)),
              ElementsAre(2, 4));
}

TEST(PlateauWatch, ALossThatIsNoNumberIsNoProgress) {
  EXPECT_THAT(Decisions({.patience = 2}, {5, NAN, NAN, 4}), ElementsAre(3));
  EXPECT_THAT(Decisions({.patience = 2}, {NAN, 5, 5, 5}), ElementsAre(4)) << "nor is it the lowest";
  EXPECT_THAT(Decisions({.patience = 2}, {5, INFINITY, INFINITY}), ElementsAre(3));
  EXPECT_THAT(Decisions({.patience = 2}, {INFINITY, 5, 4, 3, 2, 1}), IsEmpty());
  EXPECT_THAT(Decisions({.patience = 2}, {-INFINITY, 5, 4, 3, 2, 1}), IsEmpty());
}

constexpr RunExtent kTenEpochs{.rounds_per_epoch = 20, .rounds = 200};

TEST(PlateauSchedule, BeginsWithTheStageThatIsKnown) {
  const auto schedule =
      BatchSchedule::Make("plateau:factor=3:patience=4:threshold=0.5:most=2", kTenEpochs);
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  ASSERT_TRUE(schedule->plateau().has_value());
  EXPECT_EQ(schedule->plateau()->factor, 3);
  EXPECT_EQ(schedule->plateau()->patience, 4);
  EXPECT_EQ(schedule->plateau()->threshold, 0.5);
  EXPECT_EQ(schedule->plateau()->most, 2);
  EXPECT_EQ(schedule->stages().size(), 1);
  EXPECT_EQ(schedule->RoundsFor(200), 200);
  EXPECT_EQ(schedule->LargestGrowth(), 9) << "that it can become";
  EXPECT_FALSE(BatchSchedule::Make("step", kTenEpochs)->plateau().has_value());
}

TEST(PlateauSchedule, GrowsFromARoundOn) {
  BatchSchedule schedule = *BatchSchedule::Make("plateau", kTenEpochs);
  schedule.GrowFrom(60, 1);
  EXPECT_EQ(schedule.stages().size(), 1) << "no growth, no stage";
  schedule.GrowFrom(100, 2);
  schedule.GrowFrom(125, 4);
  const BatchSchedule steps = *BatchSchedule::Make("step", kTenEpochs);
  for (int64_t round = 0; round < 200; ++round) {
    EXPECT_EQ(schedule.Before(round), steps.Before(round)) << round;
    EXPECT_EQ(schedule.Growth(round), steps.Growth(round)) << round;
  }
  EXPECT_EQ(schedule.RoundsFor(200), 138);
}

TEST(PlateauSchedule, ErrorsNameTheSpec) {
  const auto refusal = [](const std::string& spec) {
    return std::string(BatchSchedule::Make(spec, kTenEpochs).status().message());
  };
  EXPECT_EQ(refusal("plateau:factor=1"), "plateau:factor=1: option factor: 1 is less than 2");
  EXPECT_THAT(refusal("plateau:factor=0.1"), ::testing::HasSubstr("factor"));
  EXPECT_THAT(refusal("plateau:patience=0"), ::testing::HasSubstr("patience: 0 is less than 1"));
  EXPECT_THAT(refusal("plateau:threshold=2"), ::testing::HasSubstr("threshold: 2 is more than 1"));
  EXPECT_THAT(refusal("plateau:most=0"), ::testing::HasSubstr("most: 0 is less than 1"));
  EXPECT_THAT(refusal("plateau:at=50%"), ::testing::HasSubstr("at"));
  EXPECT_EQ(refusal("plateau:factor=10:most=10"),
            "plateau:factor=10:most=10: the batch grows without end; take a smaller factor, or a "
            "smaller most");
  EXPECT_THAT(refusal("plateau:most=1073741824"), ::testing::HasSubstr("without end"));
}

}  // namespace
}  // namespace grapevine
