#include "node/control/checkpoint_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

namespace grapevine {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class CheckpointCallsTest : public ::testing::Test {
 protected:
  void Begin(std::optional<std::chrono::nanoseconds> every, Round begin = 0) {
    calls_.emplace(
        CheckpointCallsOptions{.nodes = 2, .rounds = 100, .begin = begin, .every = every}, now_);
  }
  // The ballot that is asked under; 0: none.
  uint32_t Asked(seconds later = seconds(0)) {
    now_ += later;
    calls_->OnTime(now_);
    const auto directive = calls_->Take();
    return directive ? directive->prepare().ballot() : 0;
  }
  std::string Promise(Rank rank, uint32_t ballot, Round round) {
    control::Promise promise;
    promise.set_ballot(ballot);
    promise.set_round(round);
    return std::string(calls_->OnPromise(rank, promise).message());
  }
  // The round that is named when both have promised; 0: none.
  Round Named(uint32_t ballot, Round first, Round second) {
    EXPECT_EQ(Promise(0, ballot, first), "");
    EXPECT_FALSE(calls_->Take().has_value()) << "the other one may be further";
    EXPECT_EQ(Promise(1, ballot, second), "");
    const auto directive = calls_->Take();
    EXPECT_EQ(directive->checkpoint_at().ballot(), ballot);
    return directive->checkpoint_at().round();
  }

  SteadyTime now_{seconds(1000)};
  std::optional<CheckpointCalls> calls_;
};

TEST_F(CheckpointCallsTest, ComeWhenTheTimeHasPassedSinceTheStartAndSinceTheLastOne) {
  Begin(seconds(30));
  EXPECT_EQ(Asked(seconds(29)), 0u);
  EXPECT_EQ(Asked(seconds(1)), 1u);
  EXPECT_EQ(Asked(seconds(60)), 0u) << "is being asked for";
  EXPECT_EQ(Named(1, 6, 9), 11) << "10 rounds may be completed";
  calls_->OnComplete(11);
  EXPECT_EQ(Asked(seconds(29)), 0u);
  EXPECT_EQ(Asked(seconds(1)), 2u);
  EXPECT_EQ(Named(2, 20, 20), 22);
}

TEST_F(CheckpointCallsTest, WaitForADiskThatIsSlower) {
  Begin(seconds(30));
  EXPECT_EQ(Asked(seconds(30)), 1u);
  EXPECT_EQ(Named(1, -1, -1), 1);
  EXPECT_EQ(Asked(seconds(300)), 0u);
  calls_->OnComplete(1);
  EXPECT_EQ(Asked(), 2u);
}

TEST_F(CheckpointCallsTest, ComeOnDemandWhateverTheTime) {
  Begin(std::nullopt);
  EXPECT_EQ(Asked(seconds(3600)), 0u);
  calls_->Demand();
  EXPECT_EQ(Asked(), 1u);
  calls_->Demand();
  EXPECT_EQ(Asked(), 0u) << "the same one serves";
  EXPECT_EQ(Named(1, 3, 4), 6);
  calls_->Demand();
  EXPECT_EQ(Asked(), 2u) << "though the last one is not complete";
  EXPECT_EQ(Named(2, 4, 4), 7) << "each is another";
}

TEST_F(CheckpointCallsTest, NameNoRoundThatTheRunEndsBefore) {
  Begin(seconds(30));
  EXPECT_EQ(Asked(seconds(30)), 1u);
  EXPECT_EQ(Named(1, 80, 99), 0) << "rank 1 may have done all";
  EXPECT_EQ(Asked(seconds(300)), 0u);
}

TEST_F(CheckpointCallsTest, DoNotNameTheLastRoundWhichThereIsNoGoingOnFrom) {
  Begin(seconds(30));
  EXPECT_EQ(Asked(seconds(30)), 1u);
  EXPECT_EQ(Named(1, 80, 97), 99);
  EXPECT_FALSE(calls_->over());
  calls_->Demand();
  EXPECT_EQ(Asked(), 2u);
  EXPECT_EQ(Named(2, 98, 98), 0);
  EXPECT_TRUE(calls_->over());
}

TEST_F(CheckpointCallsTest, GoOnWhereTheRunDoes) {
  Begin(seconds(30), /*begin=*/50);
  EXPECT_EQ(Asked(seconds(30)), 1u);
  EXPECT_EQ(Named(1, -1, -1), 51) << "of nodes that have not begun";
}

TEST_F(CheckpointCallsTest, RefuseWhatNoNodeCanPromise) {
  Begin(seconds(30));
  EXPECT_THAT(Promise(0, 1, 3), HasSubstr("promises round 3 under ballot 1, where the last"));
  EXPECT_EQ(Asked(seconds(30)), 1u);
  EXPECT_THAT(Promise(0, 1, 100), HasSubstr("the run has 100 rounds"));
  EXPECT_THAT(Promise(0, 1, -2), HasSubstr("promises round -2"));
  EXPECT_EQ(Promise(0, 1, 5), "");
  EXPECT_EQ(Promise(0, 1, 70), "") << "the first counts";
  EXPECT_EQ(Promise(1, 1, 5), "");
  EXPECT_EQ(calls_->Take()->checkpoint_at().round(), 7);
  EXPECT_EQ(Promise(1, 1, 5), "") << "it came again";
}

}  // namespace
}  // namespace grapevine
