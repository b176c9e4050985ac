// Whom a coordinator leaves out where living nodes have lost each other, and hears them all.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/control/disputes.h"
#include "tests/node/control/coordinator_run.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Six nodes whose coordinator hears each, but for those that are cut off from it.
class CoordinatorDisputes : public CoordinatorRun {
 protected:
  static constexpr Rank kNodes = 6;
  CoordinatorDisputes() { resilient_ = true; }

  void Say(const std::vector<Loss>& losses) {
    for (const Loss& loss : losses) SayLost(loss.reporter, loss.lost);
  }
  void PassHeard(milliseconds duration) {
    Pass(duration, [this] {
      for (Rank rank = 0; rank < n_; ++rank) {
        const bool out = std::ranges::find(lost_, rank) != lost_.end();
        if (!out && !unheard_.contains(rank)) Beat(rank, 7, {}, now_.time_since_epoch().count());
      }
    });
  }

  std::set<Rank> unheard_;
};

TEST_F(CoordinatorDisputes, AHostThatCannotReachTwoOthersGoesAloneWhoeverSaysSoFirst) {
  std::vector<Loss> losses{{1, 3}, {2, 3}, {3, 1}, {3, 2}};
  do {
    BeginRunning(kNodes);
    for (const Loss& loss : losses) {
      Say({loss});
      PassHeard(milliseconds(200));
    }
    PassHeard(milliseconds(3000));
    ASSERT_THAT(lost_, ElementsAre(3)) << ::testing::PrintToString(losses.front().reporter);
  } while (std::ranges::next_permutation(losses).found);
  EXPECT_THAT(notices_,
              ElementsAre(AllOf(
                  HasSubstr("lost rank 3; ranks 1, 2 have lost rank 3, which has lost ranks 1, 2; "
                            "rank 0 heard from rank 3 0."),
                  HasSubstr("5 of 6 nodes go on"))));
}

TEST_F(CoordinatorDisputes, AHostGoesForTheTwoItHasLostThoughTheySayNothing) {
  BeginRunning(kNodes);
  Say({{3, 1}});
  PassHeard(milliseconds(900));
  Say({{3, 2}});
  PassHeard(milliseconds(2000));
  EXPECT_THAT(lost_, ElementsAre(3));
}

TEST_F(CoordinatorDisputes, WhatTwoSayIsWaitedForNoLongerThanTheHearing) {
  BeginRunning(kNodes);
  Say({{3, 1}});
  PassHeard(milliseconds(900));
  EXPECT_THAT(lost_, IsEmpty());
  PassHeard(milliseconds(100));
  EXPECT_THAT(lost_, ElementsAre(1));
  Say({{3, 2}});
  PassHeard(milliseconds(1000));
  EXPECT_THAT(lost_, ElementsAre(1, 2));
}

// Two losses that have nothing to do with each other.
TEST_F(CoordinatorDisputes, OfEachPairThatIsCutOneGoes) {
  BeginRunning(kNodes);
  Say({{2, 1}, {1, 2}, {4, 5}});
  PassHeard(milliseconds(2000));
  EXPECT_THAT(lost_, ElementsAre(2, 5));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

TEST_F(CoordinatorDisputes, RankZeroStaysAndWhomItCannotReachGoes) {
  BeginRunning(kNodes);
  Say({{0, 1}, {1, 0}, {2, 0}, {3, 4}});
  PassHeard(milliseconds(2000));
  EXPECT_THAT(lost_, ::testing::UnorderedElementsAre(1, 2, 4));
}

// Alone, of 1 and 2 the higher rank would go, as would 1 for its two.
TEST_F(CoordinatorDisputes, WhomNobodyHearsGoesFirstAndWhatItHasSaidWithIt) {
  BeginRunning(kNodes);
  unheard_ = {2};
  Say({{2, 1}, {1, 2}, {2, 3}});
  PassHeard(milliseconds(1900));
  EXPECT_THAT(lost_, IsEmpty());
  PassHeard(milliseconds(1500));
  EXPECT_THAT(lost_, ElementsAre(2));
  BeginRunning(kNodes);
  unheard_ = {1};
  Say({{2, 1}, {1, 2}});
  PassHeard(milliseconds(3500));
  EXPECT_THAT(lost_, ElementsAre(1));
}

TEST_F(CoordinatorDisputes, WhoAccusesAndSpeaksNoMoreGoesAndNotTheAccused) {
  BeginRunning(kNodes);
  unheard_ = {4};
  Say({{4, 1}});
  PassHeard(milliseconds(3900));
  EXPECT_THAT(lost_, IsEmpty());
  PassHeard(milliseconds(2000));
  EXPECT_THAT(lost_, ElementsAre(4));
}

TEST_F(CoordinatorDisputes, WhoAccusesAndSpeaksAgainIsBelieved) {
  BeginRunning(kNodes);
  unheard_ = {4};
  Say({{4, 1}});
  PassHeard(milliseconds(2500));
  unheard_ = {};
  PassHeard(milliseconds(200));
  EXPECT_THAT(lost_, ElementsAre(1));
}

TEST_F(CoordinatorDisputes, OnceOneIsKnownToBeDeadNobodyElseGoes) {
  BeginRunning(kNodes);
  Say({{3, 1}, {1, 3}, {3, 2}, {1, 2}});
  LoseProcess(1);
  Collect();
  EXPECT_THAT(lost_, ElementsAre(1)) << "at once";
  Say({{2, 1}});
  LoseProcess(3);
  PassHeard(milliseconds(3000));
  EXPECT_THAT(lost_, ElementsAre(1, 3));
}

// Of two that have lost each other the higher rank would go.
TEST_F(CoordinatorDisputes, WhoSendsAWrongChecksumGoesWhateverItSaysOfOthers) {
  BeginRunning(kNodes);
  SayLost(3, 1, /*proven=*/true);
  Say({{1, 3}, {1, 2}});
  PassHeard(milliseconds(3000));
  EXPECT_THAT(lost_, ElementsAre(1));
}

TEST_F(CoordinatorDisputes, WhoIsWaitedForAtTheEndByThoseItHasNotReachedGoesAlone) {
  BeginRunning(kNodes);
  for (const Rank rank : {0, 1, 2, 4, 5}) Done(rank, 100);
  const auto wait = [this] {
    for (Rank rank = 0; rank < kNodes; ++rank) {
      const bool out = std::ranges::find(lost_, rank) != lost_.end();
      if (!out) Beat(rank, 99, rank == 3 ? std::vector<Rank>{1, 2} : std::vector<Rank>{});
    }
  };
  Pass(milliseconds(7000), wait);
  EXPECT_THAT(lost_, ElementsAre(3));
}

TEST_F(CoordinatorDisputes, AServerStaysAndWhoHasLostItGoes) {
  workers_ = 4;
  BeginRunning(kNodes);
  Say({{1, 4}, {4, 1}, {1, 5}, {5, 2}});
  PassHeard(milliseconds(2000));
  EXPECT_THAT(lost_, ElementsAre(1, 2));
}

}  // namespace
}  // namespace grapevine
