// Rounds of nodes that are lost and come back, told by hand.
#include "sim/engine/round_collector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace grapevine::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Of three nodes, which have sent 100 bytes a round each.
class RoundCollectorTest : public ::testing::Test {
 protected:
  void Complete(Rank rank, Round completed) {
    collector_.OnGradient(rank, 2.0, 1);
    ASSERT_TRUE(collector_.OnBoundary(rank, completed, 10 * completed, 100 * completed, {}).ok());
  }
  void Complete(const std::vector<Rank>& ranks, Round completed) {
    for (const Rank rank : ranks) Complete(rank, completed);
  }
  std::vector<Round> Rounds() const {
    std::vector<Round> rounds;
    for (const MeasuredRound& measured : emitted_) rounds.push_back(measured.completed);
    return rounds;
  }

  std::vector<MeasuredRound> emitted_;
  RoundCollector collector_{{.nodes = 3, .measured = [](Round) { return true; }},
                            [this](const MeasuredRound& measured) {
                              emitted_.push_back(measured);
                              return absl::OkStatus();
                            }};
};

TEST_F(RoundCollectorTest, ARoundIsCompleteWithoutWhoIsNotIn) {
  Complete({0, 1, 2}, 1);
  Complete({0, 1}, 2);
  EXPECT_THAT(Rounds(), ElementsAre(1));
  ASSERT_TRUE(collector_.Lose(2, 150).ok());
  EXPECT_THAT(Rounds(), ElementsAre(1, 2));
  EXPECT_EQ(emitted_.back().living, 2);
  EXPECT_EQ(emitted_.back().bytes_sent, 200 + 200 + 150);
  collector_.TakeIn(2, 4);
  Complete({0, 1}, 3);
  Complete({0, 1}, 4);
  EXPECT_THAT(Rounds(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(emitted_.back().living, 2);
  EXPECT_EQ(emitted_.back().bytes_sent, 400 + 400 + 150);
  Complete({0, 1}, 5);
  EXPECT_THAT(Rounds(), ElementsAre(1, 2, 3, 4)) << "it does this one";
  Complete(2, 5);
  EXPECT_EQ(emitted_.back().completed, 5);
  EXPECT_EQ(emitted_.back().living, 3);
  EXPECT_EQ(emitted_.back().passes, 3);
}

// Round 1 was the lost one's to end, and ended after the others had done round 2.
TEST_F(RoundCollectorTest, TimeDoesNotGoBackWhenTheSlowestIsLost) {
  Complete({0, 1}, 1);
  Complete({0, 1}, 2);
  ASSERT_TRUE(collector_.OnBoundary(2, 1, 35, 0, {}).ok());
  ASSERT_TRUE(collector_.Lose(2, 0).ok());
  Complete({0, 1}, 4);
  ASSERT_EQ(emitted_.size(), 3u);
  EXPECT_EQ(emitted_[0].time, 35);
  EXPECT_EQ(emitted_[1].time, 35);
  EXPECT_EQ(emitted_[2].time, 40);
}

TEST_F(RoundCollectorTest, WhatItHadBegunBeforeIsNotOfItsNextLife) {
  collector_.OnGradient(2, 100.0, 1);
  ASSERT_TRUE(collector_.Lose(2, 0).ok());
  collector_.TakeIn(2, 0);
  Complete({0, 1, 2}, 1);
  ASSERT_EQ(emitted_.size(), 1u);
  EXPECT_EQ(emitted_[0].loss_sum, 6.0);
}

TEST_F(RoundCollectorTest, OneThatIsLostAgainIsNotWaitedFor) {
  Complete({0, 1, 2}, 1);
  ASSERT_TRUE(collector_.Lose(2, 150).ok());
  collector_.TakeIn(2, 2);
  Complete({0, 1}, 2);
  Complete({0, 1}, 3);
  EXPECT_THAT(Rounds(), ElementsAre(1, 2));
  ASSERT_TRUE(collector_.Lose(2, 170).ok());
  EXPECT_THAT(Rounds(), ElementsAre(1, 2, 3));
  EXPECT_EQ(emitted_.back().living, 2);
  EXPECT_EQ(emitted_.back().bytes_sent, 300 + 300 + 170);
}

// The others are still in rounds before its first when it goes again.
TEST_F(RoundCollectorTest, OpenRoundsCountItsBytesOnce) {
  ASSERT_TRUE(collector_.Lose(2, 150).ok());
  collector_.TakeIn(2, 4);
  Complete(0, 3);
  Complete(0, 4);
  ASSERT_TRUE(collector_.Lose(2, 150).ok());
  EXPECT_THAT(Rounds(), IsEmpty());
  Complete(1, 3);
  Complete(1, 4);
  EXPECT_THAT(Rounds(), ElementsAre(3, 4));
  EXPECT_EQ(emitted_[0].bytes_sent, 300 + 300 + 150);
  EXPECT_EQ(emitted_[1].bytes_sent, 400 + 400 + 150);
}

}  // namespace
}  // namespace grapevine::testing
