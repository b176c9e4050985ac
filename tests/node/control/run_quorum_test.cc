#include "node/control/run_quorum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace grapevine {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr SteadyTime kWhenItBegan{seconds(1000)};

RunQuorum QuorumOf(Rank nodes, std::optional<Rank> min_nodes, bool waits = false) {
  return {{.nodes = nodes,
           .min_nodes = min_nodes,
           .waits = waits,
           .peer_timeout = seconds(30),
           .rendezvous_timeout = seconds(60)},
          MembersLately(nodes)};
}

TEST(RunQuorum, IsHalfOfTheMembersOfLately) {
  RunQuorum quorum = QuorumOf(8, std::nullopt);
  EXPECT_TRUE(quorum.Suffices(4, kWhenItBegan));
  EXPECT_FALSE(quorum.Suffices(3, kWhenItBegan));
  quorum.OnView(4, kWhenItBegan);
  EXPECT_FALSE(quorum.Suffices(3, kWhenItBegan + seconds(29)));
  EXPECT_TRUE(quorum.Suffices(2, kWhenItBegan + seconds(31)));
}

TEST(RunQuorum, RemembersThroughAStandstill) {
  RunQuorum quorum = QuorumOf(8, std::nullopt);
  quorum.OnView(4, kWhenItBegan);
  quorum.Postpone(seconds(100));
  EXPECT_FALSE(quorum.Suffices(3, kWhenItBegan + seconds(129)));
  EXPECT_TRUE(quorum.Suffices(2, kWhenItBegan + seconds(131)));
}

TEST(RunQuorum, IsWhatTheUserSays) {
  RunQuorum quorum = QuorumOf(8, 2);
  EXPECT_TRUE(quorum.Suffices(2, kWhenItBegan));
  EXPECT_FALSE(quorum.Suffices(1, kWhenItBegan));
  EXPECT_THAT(quorum.TooFew(1, kWhenItBegan), HasSubstr("--min-nodes=2"));
  EXPECT_EQ(quorum.waits_below(), 0);
}

TEST(RunQuorum, IsAnyoneOnceAllAreDone) {
  RunQuorum quorum = QuorumOf(8, std::nullopt);
  quorum.OnAllDone();
  EXPECT_TRUE(quorum.Suffices(1, kWhenItBegan));
}

TEST(RunQuorum, EndsAWaitThatIsInVain) {
  RunQuorum quorum = QuorumOf(4, 3, /*waits=*/true);
  EXPECT_EQ(quorum.waits_below(), 3);
  EXPECT_TRUE(quorum.Suffices(1, kWhenItBegan));
  std::vector<std::string> notices;
  EXPECT_FALSE(quorum.JudgeWait(2, kWhenItBegan, &notices));
  EXPECT_FALSE(quorum.JudgeWait(2, kWhenItBegan + seconds(59), &notices));
  EXPECT_THAT(notices, SizeIs(1)) << "it is said once";
  const auto blame = quorum.JudgeWait(2, kWhenItBegan + seconds(60), &notices);
  ASSERT_TRUE(blame);
  EXPECT_EQ(blame->culprit, -1);
  EXPECT_THAT(blame->message, HasSubstr("--join"));
}

TEST(RunQuorum, WaitsAnewAfterEnoughHaveComeIn) {
  RunQuorum quorum = QuorumOf(4, 3, /*waits=*/true);
  std::vector<std::string> notices;
  EXPECT_FALSE(quorum.JudgeWait(1, kWhenItBegan, &notices));
  quorum.OnNewcomer(2, kWhenItBegan + seconds(50));
  EXPECT_TRUE(quorum.JudgeWait(2, kWhenItBegan + seconds(60), &notices)) << "two are not enough";
  quorum.OnNewcomer(3, kWhenItBegan + seconds(60));
  EXPECT_FALSE(quorum.JudgeWait(2, kWhenItBegan + seconds(70), &notices));
  EXPECT_THAT(notices, SizeIs(2));
}

}  // namespace
}  // namespace grapevine
