#include "optim/batch_schedule.h"

#include <string>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

// 10 epochs of 20 rounds of the first batch.
constexpr RunExtent kGrowingRun{.rounds_per_epoch = 20, .rounds = 200};

TEST(BatchScheduleTest, WithoutGrowthFirstBatchesAreRounds) {
  for (const BatchSchedule& schedule :
       {BatchSchedule(), *BatchSchedule::Make("none", kGrowingRun)}) {
    for (const int64_t round : {0, 1, 199, 200}) {
      EXPECT_EQ(schedule.Growth(round), 1);
      EXPECT_EQ(schedule.Before(round), round);
      EXPECT_EQ(schedule.RoundsFor(round), round);
    }
    EXPECT_EQ(schedule.LargestGrowth(), 1);
  }
}

// 100 rounds of 1, then 25 of 2, then 12.5 of 4: the last round sees more than is left.
TEST(BatchScheduleTest, GrowsAtSharesOfTheSamplesAndNotOfTheRounds) {
  const BatchSchedule schedule = *BatchSchedule::Make("step", kGrowingRun);
  EXPECT_EQ(schedule.Growth(99), 1);
  EXPECT_EQ(schedule.Growth(100), 2);
  EXPECT_EQ(schedule.Growth(124), 2);
  EXPECT_EQ(schedule.Growth(125), 4);
  EXPECT_EQ(schedule.Before(100), 100);
  EXPECT_EQ(schedule.Before(125), 150);
  EXPECT_EQ(schedule.Before(137), 198);
  EXPECT_EQ(schedule.RoundsFor(200), 138);
  EXPECT_EQ(schedule.LargestGrowth(), 4);
}

TEST(BatchScheduleTest, GrowsAtEpochs) {
  const BatchSchedule schedule = *BatchSchedule::Make("step:at=2.5+5:factor=10", kGrowingRun);
  EXPECT_EQ(schedule.Growth(49), 1);
  EXPECT_EQ(schedule.Growth(50), 10);
  EXPECT_EQ(schedule.Before(55), 100);
  EXPECT_EQ(schedule.Growth(55), 100);
}

// What a round sees is what its batch is, and as many rounds as are needed are the fewest.
TEST(BatchScheduleTest, RoundsAndSamplesAreOneFunction) {
  for (const char* spec : {"step", "step:at=1+2+3+4+5:factor=3", "step:at=7%+13%:factor=7",
                           "step:at=0:factor=2", "step:at=1+1.01:factor=2"}) {
    const BatchSchedule schedule = *BatchSchedule::Make(spec, kGrowingRun);
    EXPECT_EQ(schedule.Before(0), 0) << spec;
    for (int64_t round = 0; round < 220; ++round) {
      const int64_t before = schedule.Before(round), after = schedule.Before(round + 1);
      EXPECT_EQ(after - before, schedule.Growth(round)) << spec << " in round " << round;
      for (int64_t seen = before + 1; seen <= after; ++seen) {
        EXPECT_EQ(schedule.RoundsFor(seen), round + 1) << spec << " for " << seen;
      }
    }
  }
}

TEST(BatchScheduleTest, ErrorsNameTheSpecAndWhatIsKnown) {
  const auto refusal = [](const std::string& spec) {
    const absl::Status status = BatchSchedule::Make(spec, kGrowingRun).status();
    EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(refusal("double"),
            "double: unknown batch schedule 'double'; known: none, step[:at=50%+75%][:factor=2], "
            "plateau[:factor=2][:patience=2][:threshold=0.01][:most=3]");
  EXPECT_EQ(refusal("step:at=75%+50%"),
            "step:at=75%+50%: at: '50%' does not come after '75%'; write positions in ascending "
            "order");
  EXPECT_THAT(refusal("step:at=11"), HasSubstr("at: '11' is round 220, past the end of the run"));
  EXPECT_THAT(refusal("step:factor=1"), HasSubstr("factor: 1 is less than 2"));
  EXPECT_THAT(refusal("step:factor=1.5"), HasSubstr("factor"));
  EXPECT_THAT(refusal("step:at=1+2+3+4:factor=1000"), HasSubstr("grows without end"));
}

}  // namespace
}  // namespace grapevine
