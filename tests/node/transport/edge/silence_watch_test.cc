#include "gtest/gtest.h"
#include "node/transport/edge/conversation.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;

TEST(SilenceWatch, CountsTicksSinceTheLastWord) {
  SilenceWatch watch;
  EXPECT_EQ(watch.Tick(milliseconds(200)), milliseconds(200));
  EXPECT_EQ(watch.Tick(milliseconds(200)), milliseconds(400));
  watch.Heard();
  EXPECT_EQ(watch.Tick(milliseconds(100)), milliseconds(100));
}

TEST(SilenceWatch, TellsTheLatestRound) {
  SilenceWatch watch;
  EXPECT_EQ(watch.Describe(), "last heard 0.0 s ago");
  watch.HeardRound(812);
  watch.HeardRound(811);
  watch.Tick(milliseconds(4100));
  EXPECT_EQ(watch.Describe(), "last heard 4.1 s ago in round 812");
}

TEST(SilenceWatch, NamesPeerRoundTimeAndFlag) {
  SilenceWatch watch;
  watch.HeardRound(7);
  watch.Tick(milliseconds(30000));
  EXPECT_EQ(SilentPeer(3, "host:1", watch, milliseconds(30000)),
            absl::DeadlineExceededError("rank 3 (host:1) is silent: last heard 30.0 s ago in round "
                                        "7; --peer-timeout is 30.0 s"));
}

}  // namespace
}  // namespace grapevine
