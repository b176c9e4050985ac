#include <gtest/gtest.h>

#include <vector>

#include "node/runner/round_progress.h"

namespace grapevine {
namespace {

class StepReportsTest : public ::testing::Test {
 protected:
  bool Due(Round steps, bool resting = false, Round cut = 0) {
    return reports_.Due({.steps = steps, .resting = resting, .cut = cut}, now_);
  }
  // The steps among the next ones at which the node reports.
  std::vector<Round> ReportedFrom(Round first, Round last) {
    std::vector<Round> reported;
    for (Round steps = first; steps <= last; ++steps) {
      if (Due(steps)) reported.push_back(steps);
    }
    return reported;
  }

  StepReports reports_;
  StepReports::Time now_{std::chrono::hours(1)};
};

TEST_F(StepReportsTest, ComeWithEachHalfOfWhatIsAhead) {
  reports_.OnLimit(16);
  EXPECT_TRUE(Due(1)) << "the first, since none came in kInterval";
  EXPECT_EQ(ReportedFrom(2, 16), (std::vector<Round>{9, 13, 15, 16}));
  reports_.OnLimit(20);
  EXPECT_EQ(ReportedFrom(17, 20), (std::vector<Round>{18, 19, 20}));
}

TEST_F(StepReportsTest, ComeWhenSomeTimeHasPassed) {
  reports_.OnLimit(1000);
  EXPECT_TRUE(Due(1));
  EXPECT_FALSE(Due(2));
  now_ += StepReports::kInterval;
  EXPECT_TRUE(Due(3));
  now_ += StepReports::kInterval;
  EXPECT_FALSE(Due(3)) << "nothing has happened";
}

TEST_F(StepReportsTest, ARestIsToldOnceAtTheLimitOnly) {
  reports_.OnLimit(2);
  EXPECT_TRUE(Due(2));
  EXPECT_TRUE(Due(2, true));
  EXPECT_FALSE(Due(2, true));
  reports_.OnLimit(3);
  EXPECT_FALSE(Due(2, true)) << "it goes on";
}

TEST_F(StepReportsTest, EveryMeasurementIsTold) {
  reports_.OnLimit(100);
  EXPECT_TRUE(Due(1));
  EXPECT_TRUE(Due(1, false, 1));
  EXPECT_FALSE(Due(1, false, 1));
}

}  // namespace
}  // namespace grapevine
