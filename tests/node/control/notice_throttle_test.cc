#include "node/control/notice_throttle.h"

#include "gtest/gtest.h"

namespace grapevine {
namespace {

using std::chrono::seconds;

TEST(NoticeThrottle, AdmitsSomeInAnIntervalAndCountsTheRest) {
  NoticeThrottle throttle(2, seconds(10));
  const NoticeThrottle::Time begin(seconds(1000));
  EXPECT_TRUE(throttle.Admit(begin));
  EXPECT_TRUE(throttle.Admit(begin));
  EXPECT_FALSE(throttle.Admit(begin + seconds(1)));
  EXPECT_FALSE(throttle.Admit(begin + seconds(9)));
  EXPECT_EQ(throttle.TakeHeldBack(begin + seconds(9)), 0) << "the interval is not over";
  EXPECT_EQ(throttle.TakeHeldBack(begin + seconds(10)), 2);
  EXPECT_EQ(throttle.TakeHeldBack(begin + seconds(11)), 0);
  EXPECT_TRUE(throttle.Admit(begin + seconds(12)));
  EXPECT_TRUE(throttle.Admit(begin + seconds(12)));
  EXPECT_FALSE(throttle.Admit(begin + seconds(12)));
}

}  // namespace
}  // namespace grapevine
