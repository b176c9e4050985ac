#include <cmath>
#include <string>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "optim/learning_rate.h"

namespace grapevine {
namespace {

// 10 epochs of 20 rounds.
constexpr ScheduleOptions kRun{.rate = 0.4, .run = {.rounds_per_epoch = 20, .rounds = 200}};

TEST(ScheduleTest, Constant) {
  const Schedule rate = *MakeSchedule("constant", kRun);
  EXPECT_EQ(rate(0), 0.4);
  EXPECT_EQ(rate(199), 0.4);
}

TEST(ScheduleTest, StepDropsAtSharesOfTheRun) {
  const Schedule rate = *MakeSchedule("step", kRun);
  EXPECT_EQ(rate(99), 0.4);
  EXPECT_DOUBLE_EQ(rate(100), 0.04);
  EXPECT_DOUBLE_EQ(rate(149), 0.04);
  EXPECT_DOUBLE_EQ(rate(150), 0.004);
}

TEST(ScheduleTest, StepDropsAtEpochs) {
  const Schedule rate = *MakeSchedule("step:at=2.5+75%:factor=0.5", kRun);
  EXPECT_EQ(rate(49), 0.4);
  EXPECT_DOUBLE_EQ(rate(50), 0.2);
  EXPECT_DOUBLE_EQ(rate(150), 0.1);
}

TEST(ScheduleTest, WarmUpIsLinearFromZeroAndEndsAtTheRate) {
  const Schedule rate = *MakeSchedule("constant:warmup=2", kRun);
  EXPECT_DOUBLE_EQ(rate(0), 0.4 / 40);
  EXPECT_DOUBLE_EQ(rate(19), 0.2);
  EXPECT_DOUBLE_EQ(rate(39), 0.4);
  EXPECT_DOUBLE_EQ(rate(40), 0.4);
}

ScheduleOptions Scaled(double unscaled) {
  ScheduleOptions options = kRun;
  options.unscaled_rate = unscaled;
  return options;
}

// Goyal et al.: a constant amount each iteration, the base rate first, k times it after the ramp.
TEST(ScheduleTest, AScaledRateIsWarmedUpFromTheBaseRate) {
  for (const char* spec : {"constant:warmup=2", "constant:warmup=2:from=base"}) {
    const Schedule rate = *MakeSchedule(spec, Scaled(0.1));
    EXPECT_DOUBLE_EQ(rate(0), 0.1) << spec;
    EXPECT_NEAR(rate(1) - rate(0), 0.3 / 40, 1e-12) << spec;
    EXPECT_DOUBLE_EQ(rate(20), 0.25) << spec;
    EXPECT_LT(rate(39), 0.4) << spec;
    EXPECT_DOUBLE_EQ(rate(40), 0.4) << spec;
  }
}

TEST(ScheduleTest, AWarmUpFromZeroCanBeAskedFor) {
  const Schedule rate = *MakeSchedule("constant:warmup=2:from=zero", Scaled(0.1));
  EXPECT_DOUBLE_EQ(rate(0), 0.4 / 40);
  EXPECT_DOUBLE_EQ(rate(39), 0.4);
}

// A base rate above the scaled one would be no warm-up, unless somebody wants it.
TEST(ScheduleTest, ARateThatIsScaledDownIsWarmedUpFromZero) {
  EXPECT_DOUBLE_EQ((*MakeSchedule("constant:warmup=2", Scaled(0.8)))(0), 0.4 / 40);
  EXPECT_DOUBLE_EQ((*MakeSchedule("constant:warmup=2:from=base", Scaled(0.8)))(0), 0.8);
}

TEST(ScheduleTest, CosineRunsFromTheEndOfTheRampToTheEndOfTheRun) {
  const Schedule rate = *MakeSchedule("cosine:warmup=5", kRun);
  EXPECT_DOUBLE_EQ(rate(99), 0.4);
  EXPECT_DOUBLE_EQ(rate(100), 0.4);
  EXPECT_NEAR(rate(125), 0.4 * (1 + std::sqrt(0.5)) / 2, 1e-12);
  EXPECT_NEAR(rate(150), 0.2, 1e-12);
  EXPECT_GT(rate(199), 0);
  EXPECT_LT(rate(199), 1e-3 * 0.4);
}

TEST(ScheduleTest, CosineEndsAtAFloor) {
  const Schedule rate = *MakeSchedule("cosine:end=0.1", kRun);
  EXPECT_NEAR(rate(100), 0.4 * 0.55, 1e-12);
  EXPECT_GT(rate(199), 0.04);
}

TEST(ScheduleTest, Polynomial) {
  EXPECT_DOUBLE_EQ((*MakeSchedule("poly", kRun))(100), 0.2);
  const Schedule rate = *MakeSchedule("poly:power=2:end=0.2:warmup=10%", kRun);
  EXPECT_DOUBLE_EQ(rate(19), 0.4);
  EXPECT_NEAR(rate(110), 0.4 * (0.2 + 0.8 * 0.25), 1e-12);
}

TEST(ScheduleTest, RoundsPastTheEndKeepTheLastRate) {
  const Schedule rate = *MakeSchedule("poly", kRun);
  EXPECT_EQ(rate(200), rate(199));
  EXPECT_EQ(rate(1'000'000), rate(199));
}

TEST(ScheduleTest, ARampMayTakeTheWholeRun) {
  for (const char* spec : {"cosine:warmup=10", "cosine:warmup=100%"}) {
    EXPECT_DOUBLE_EQ((*MakeSchedule(spec, kRun))(199), 0.4) << spec;
  }
}

// Where rounds are few, positions that differ may fall on one round.
TEST(ScheduleTest, ShortRunsHaveEverySchedule) {
  for (const char* spec : {"step", "step:at=10%+20%+100%", "cosine:warmup=10%"}) {
    const auto rate = MakeSchedule(spec, {.rate = 1, .run = {.rounds_per_epoch = 20, .rounds = 1}});
    EXPECT_TRUE(rate.ok()) << rate.status();
  }
}

TEST(ScheduleTest, EmptyRunsAreDefined) {
  EXPECT_EQ((*MakeSchedule("constant", {.rate = 1, .run = {.rounds = 0}}))(0), 1);
}

TEST(ScheduleTest, ErrorsNameTheSpecAndWhatIsKnown) {
  const auto refusal = [](const std::string& spec) {
    const absl::Status status = MakeSchedule(spec, kRun).status();
    EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(refusal("exponential"),
            "exponential: unknown schedule 'exponential'; known: constant, cosine[:end=0], "
            "poly[:power=1][:end=0], step[:at=50%+75%][:factor=0.1]");
  EXPECT_EQ(
      refusal("step:at=50%+x"),
      "step:at=50%+x: at: 'x' is not a position; write epochs (5) or a share of the run (10%)");
  EXPECT_THAT(refusal("constant:warmup=-1"), ::testing::HasSubstr("'-1' is not a position"));
  EXPECT_THAT(refusal("cosine:power=2"), ::testing::HasSubstr("unknown option 'power'"));
  EXPECT_THAT(refusal("poly:power=-1"), ::testing::HasSubstr("less than 0"));
  EXPECT_EQ(refusal("cosine:warmup=5:from=base"),
            "cosine:warmup=5:from=base: from=base: needs --scale-lr, whose base rate it begins at; "
            "drop one of them");
  EXPECT_THAT(refusal("cosine:from=one"), ::testing::HasSubstr("from: 'one' is not base or zero"));
}

TEST(ScheduleTest, PositionsPastTheEndOrOutOfOrderAreRefused) {
  const auto refusal = [](const std::string& spec) {
    const absl::Status status = MakeSchedule(spec, kRun).status();
    EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(refusal("step:at=120%"),
            "step:at=120%: at: '120%' is round 240, past the end of the run (200 rounds)");
  EXPECT_EQ(refusal("step:at=50%+10.5"),
            "step:at=50%+10.5: at: '10.5' is round 210, past the end of the run (200 rounds)");
  EXPECT_EQ(
      refusal("cosine:warmup=200%"),
      "cosine:warmup=200%: warmup: '200%' is round 400, past the end of the run (200 rounds)");
  EXPECT_THAT(refusal("constant:warmup=11"),
              ::testing::HasSubstr("warmup: '11' is round 220, past"));
  EXPECT_EQ(refusal("step:at=75%+50%"),
            "step:at=75%+50%: at: '50%' does not come after '75%'; write positions in ascending "
            "order");
  EXPECT_THAT(refusal("step:at=50%+5"), ::testing::HasSubstr("'5' does not come after '50%'"));
}

TEST(ScheduleTest, ImpossibleRunsAreRefused) {
  EXPECT_THAT(std::string(MakeSchedule("constant", {.rate = -1}).status().message()),
              ::testing::HasSubstr("the learning rate is -1"));
  EXPECT_THAT(
      std::string(MakeSchedule("constant", {.run = {.rounds_per_epoch = 0}}).status().message()),
      ::testing::HasSubstr("is not a run"));
}

}  // namespace
}  // namespace grapevine
