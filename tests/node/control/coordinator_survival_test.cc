// What a coordinator does with deaths where the others go on.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/node/control/coordinator_run.h"
#include "tests/node/control/packed_lists.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CoordinatorSurvival : public CoordinatorRun {
 protected:
  CoordinatorSurvival() { resilient_ = true; }

  void Die(Rank rank) {
    LoseProcess(rank);
    Collect();
  }
  void LoseRankZero(Rank rank) { SayLost(rank, 0); }
};

TEST_F(CoordinatorSurvival, TheOthersAgreeToGoOn) {
  BeginRunning(4);
  Beat(2, 12);
  Die(2);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  EXPECT_THAT(lost_, ElementsAre(2));
  EXPECT_THAT(notices_, ElementsAre(AllOf(HasSubstr("rank 2 at 10.0.0.3:7000 died"),
                                          HasSubstr("3 of 4 nodes go on"))));
  for (const Rank rank : {0, 1, 3}) ASSERT_EQ(Last(rank).prepare().ballot(), 1u);
  Promise(0, 1, 13);
  Promise(1, 1, 14);
  EXPECT_TRUE(Last(1).has_prepare());
  Promise(3, 1, 12);
  for (const Rank rank : {0, 1, 3}) {
    ASSERT_TRUE(Last(rank).has_view());
    EXPECT_EQ(Last(rank).view().from(), 15);
    EXPECT_THAT(MembersIn(Last(rank).view()), ElementsAre(0, 1, 3));
    EXPECT_FALSE(Last(rank).view().has_again());
  }
  for (const Rank rank : {0, 1, 3}) Done(rank, 100);
  EXPECT_EQ(all_done_, 1);
}

TEST_F(CoordinatorSurvival, TwoThatHaveNeverMetHaveNoRendezvous) {
  BeginRunning(4);
  const auto all = [&] {
    for (const Rank rank : {0, 1, 2, 3}) Beat(rank, 0, {}, now_.time_since_epoch().count());
  };
  Pass(milliseconds(20000), all);
  Fail(1, 2, "rank 2 (10.0.0.3:7000) could not be reached within 20.0 s", Failure::kRendezvous);
  // The same from its side, which says less; it would be judged first.
  Fail(2, 1, "rank 1 ended the connection", Failure::kPeerLost);
  Pass(milliseconds(1500), all);
  EXPECT_THAT(lost_, IsEmpty());
  EXPECT_EQ(Class(), Failure::kRendezvous);
  for (const Rank rank : {0, 1, 2, 3}) {
    EXPECT_THAT(Last(rank).abort().message(),
                AllOf(HasSubstr("rank 1 at 10.0.0.2:7000 and rank 2 at 10.0.0.3:7000 have never "
                                "been connected, though both are in touch with rank 0"),
                      HasSubstr("could not be reached within 20.0 s"),
                      HasSubstr("grapevine doctor"), HasSubstr("--advertise")));
    EXPECT_FALSE(Last(rank).abort().others_go_on());
  }
}

TEST_F(CoordinatorSurvival, WhoeverHasNeverBeenReachedMayBeDead) {
  BeginRunning(4);
  const auto others = [&] {
    for (const Rank rank : {0, 1, 3}) Beat(rank, 0, {}, now_.time_since_epoch().count());
  };
  Fail(1, 2, "rank 2 could not be reached", Failure::kRendezvous);
  Pass(milliseconds(500), others);
  Die(2);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  EXPECT_THAT(lost_, ElementsAre(2));

  BeginRunning(4);  // silent in place of gone
  Fail(1, 2, "rank 2 could not be reached", Failure::kRendezvous);
  Pass(milliseconds(4100), others);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  EXPECT_THAT(lost_, ElementsAre(2));
}

// As with random matchings: what has been done by then is not given up for one edge. And who has
// lost rank 0 goes, as ever.
TEST_F(CoordinatorSurvival, TwoThatMeetLateAndInVainLoseEachOther) {
  BeginRunning(4);
  const auto all = [&] {
    for (const Rank rank : {0, 1, 2, 3}) Beat(rank, 5, {}, now_.time_since_epoch().count());
  };
  Pass(milliseconds(40100), all);
  Fail(1, 0, "rank 0 could not be reached", Failure::kRendezvous);
  Pass(milliseconds(1500), all);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  EXPECT_THAT(lost_, ElementsAre(1));
}

TEST_F(CoordinatorSurvival, FewerThanTheLeastNumberDoNotGoOn) {
  min_nodes_ = 3;
  BeginRunning(4);
  Die(2);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  for (const Rank rank : {0, 1, 3}) Promise(rank, 1, 10);
  Die(3);
  EXPECT_THAT(lost_, ElementsAre(2));
  for (const Rank rank : {0, 1}) {
    EXPECT_THAT(Last(rank).abort().message(),
                AllOf(HasSubstr("rank 3 at 10.0.0.4:7000 died"),
                      HasSubstr("2 of 4 nodes are left, fewer than --min-nodes=3")));
    EXPECT_EQ(Last(rank).abort().failure(), static_cast<int>(Failure::kPeerLost));
    EXPECT_FALSE(Last(rank).abort().others_go_on());
  }
}

// --min-nodes is not given.
TEST_F(CoordinatorSurvival, HalfOfThemGoOn) {
  BeginRunning(4);
  Die(2);
  Die(3);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  EXPECT_THAT(lost_, ElementsAre(2, 3));
  BeginRunning(2);
  Die(1);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

TEST_F(CoordinatorSurvival, FewerThanHalfOfThemGoOnOnlyIfTheUserSaysSo) {
  BeginRunning(4);
  for (const Rank rank : {1, 2, 3}) Die(rank);
  EXPECT_THAT(lost_, ElementsAre(1, 2));
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), AllOf(HasSubstr("rank 3 at 10.0.0.4:7000 died"),
                               HasSubstr("; 1 of 4 nodes is left, fewer than half of the 4 that "
                                         "were in the run within --peer-timeout=4s; with "
                                         "--min-nodes=1 so few would go on")));
  min_nodes_ = 1;
  BeginRunning(4);
  for (const Rank rank : {1, 2, 3}) Die(rank);
  EXPECT_THAT(lost_, ElementsAre(1, 2, 3));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

// Which are lost at once may be missed one after the other, and agreed upon in between.
TEST_F(CoordinatorSurvival, TheyAreNotWalkedDownWithinAPeerTimeout) {
  BeginRunning(4);
  const auto agree = [&](const std::vector<Rank>& living) {
    const uint32_t ballot = Last(0).prepare().ballot();
    for (const Rank rank : living) Promise(rank, ballot, 10);
    EXPECT_TRUE(Last(0).has_view());
  };
  Die(3);
  agree({0, 1, 2});
  Pass(milliseconds(1000));
  Die(2);
  agree({0, 1});
  Pass(milliseconds(1000));
  Die(1);
  EXPECT_THAT(lost_, ElementsAre(3, 2));
  EXPECT_THAT(Message(), HasSubstr("1 of 4 nodes is left, fewer than half of the 4 that"));
}

TEST_F(CoordinatorSurvival, OneAfterTheOtherTheyGoDownToOne) {
  BeginRunning(4);
  std::vector<Rank> living = {0, 1, 2, 3};
  while (living.size() > 1) {
    Die(living.back());
    living.pop_back();
    const uint32_t ballot = Last(0).prepare().ballot();
    for (const Rank rank : living) Promise(rank, ballot, 10);
    ASSERT_TRUE(Last(0).has_view());
    Pass(milliseconds(4100), [&] {
      for (const Rank rank : living) Beat(rank, 10, {}, now_.time_since_epoch().count());
    });
  }
  EXPECT_THAT(lost_, ElementsAre(3, 2, 1));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

// However long the others take to agree.
TEST_F(CoordinatorSurvival, ThoseWhoseLossIsNotAgreedUponCount) {
  BeginRunning(4);
  Die(3);
  Die(2);
  Pass(milliseconds(9000), [&] {
    for (const Rank rank : {0, 1}) Beat(rank, 10, {}, now_.time_since_epoch().count());
  });
  Die(1);
  EXPECT_THAT(Message(), HasSubstr("1 of 4 nodes is left, fewer than half of the 4 that"));
}

TEST_F(CoordinatorSurvival, TheLostOneHearsThatItIsLeftOut) {
  BeginRunning(3);
  const auto others = [&] {
    Beat(0, 5, {}, now_.time_since_epoch().count());
    Beat(1, 5, {}, now_.time_since_epoch().count());
  };
  Pass(milliseconds(4100), others);
  EXPECT_THAT(lost_, ElementsAre(2));
  EXPECT_THAT(Last(2).abort().message(),
              AllOf(HasSubstr("the others go on without it"), HasSubstr("is silent")));
  EXPECT_EQ(Last(2).abort().failure(), static_cast<int>(Failure::kPeerLost));
  EXPECT_TRUE(Last(2).abort().others_go_on());
  EXPECT_THAT(ended_, ElementsAre(2));
}

TEST_F(CoordinatorSurvival, RankZeroIsNotDoneWithout) {
  BeginRunning(3);
  Die(0);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kAborted);
}

TEST_F(CoordinatorSurvival, WhatWouldBefallTheOthersTooEndsTheRun) {
  BeginRunning(3);
  Fail(1, 1, "rank 1: the loss is NaN in round 5", Failure::kDiverged);
  EXPECT_EQ(Class(), Failure::kDiverged);
  BeginRunning(3);
  Fail(1, 1, "rank 1: ended by SIGTERM", Failure::kTerminated);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  EXPECT_THAT(lost_, ElementsAre(1));
}

TEST_F(CoordinatorSurvival, AnAccusedNodeIsLeftOutAndSoIsTheSecond) {
  BeginRunning(4);
  Fail(0, 1, "rank 0 lost rank 1", Failure::kPeerLost);
  Fail(3, 2, "rank 3 lost rank 2", Failure::kPeerLost);
  Pass(milliseconds(3000));
  EXPECT_THAT(lost_, ElementsAre(1, 2));
  EXPECT_EQ(Last(3).prepare().ballot(), 2u);
}

TEST_F(CoordinatorSurvival, AnAccusationFallsWithItsReporter) {
  BeginRunning(4);
  Fail(1, 2, "rank 1 lost rank 2", Failure::kPeerLost);
  Die(1);
  Pass(milliseconds(3000));
  EXPECT_THAT(lost_, ElementsAre(1));
}

TEST_F(CoordinatorSurvival, OfTwoThatLoseEachOtherRankZeroStays) {
  BeginRunning(4);
  LoseRankZero(1);
  Fail(0, 1, "rank 0 lost rank 1", Failure::kPeerLost);
  LoseRankZero(2);
  Pass(milliseconds(3000));
  EXPECT_THAT(lost_, ElementsAre(1, 2));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

// Of a worker and a server that lose each other, whoever says so first.
TEST_F(CoordinatorSurvival, AServerStays) {
  workers_ = 3;
  BeginRunning(4);
  Fail(1, 3, "rank 1 lost rank 3", Failure::kPeerLost);
  Fail(3, 1, "rank 3 lost rank 1", Failure::kPeerLost);
  Pass(milliseconds(3000));
  EXPECT_THAT(lost_, ElementsAre(1));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

TEST_F(CoordinatorSurvival, AServerThatMostHaveLostOrThatIsDeadEndsTheRun) {
  workers_ = 4;
  BeginRunning(5);
  for (const Rank rank : {0, 1, 2}) Fail(rank, 4, "lost rank 4", Failure::kPeerLost);
  Pass(milliseconds(3000));
  EXPECT_THAT(Message(), HasSubstr("rank 4 is a parameter server, and its part of the model is "
                                   "lost with it"));
  BeginRunning(5);
  LoseProcess(4);
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), HasSubstr("rank 4 is a parameter server"));
}

TEST_F(CoordinatorSurvival, WhomMostHaveLostIsToBlameThoughItIsRankZero) {
  BeginRunning(4);
  for (const Rank rank : {1, 2, 3}) LoseRankZero(rank);
  Pass(milliseconds(3000));
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(std::string(coordinator_->verdict().message()), HasSubstr("rank 3 lost rank 0"));
}

TEST_F(CoordinatorSurvival, MostAreNotLeftOutBecauseRankZeroHasLostThemToo) {
  BeginRunning(3);
  for (const Rank rank : {1, 2}) Fail(0, rank, "rank 0 lost a neighbour", Failure::kPeerLost);
  Pass(milliseconds(500));
  for (const Rank rank : {1, 2}) LoseRankZero(rank);
  Pass(milliseconds(3000));
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(std::string(coordinator_->verdict().message()), HasSubstr("rank 2 lost rank 0"));
}

TEST_F(CoordinatorSurvival, TheLongDeadDoNotSpeakForRankZero) {
  BeginRunning(5);
  for (const Rank rank : {3, 4}) Die(rank);
  for (const Rank rank : {1, 2}) LoseRankZero(rank);
  Pass(milliseconds(3000));
  EXPECT_EQ(Class(), Failure::kPeerLost);
}

TEST_F(CoordinatorSurvival, WhoseLastMessagesDoNotComeThroughIsLeftOut) {
  BeginRunning(3);
  Done(1, 100);
  Done(2, 100);
  const auto wait = [&] {
    Beat(0, 99, {2});
    Beat(1, 100);
    Beat(2, 100);
  };
  Pass(milliseconds(7000), wait);
  EXPECT_THAT(lost_, ElementsAre(2));
  EXPECT_THAT(notices_, ElementsAre(AllOf(HasSubstr("rank 2 is alive, but cut off"),
                                          HasSubstr("rank 0 waits for 2 in round 99"),
                                          HasSubstr("2 of 3 nodes go on"))));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

TEST_F(CoordinatorSurvival, WhoSaysThatRankZeroSendsNanIsNotToBlame) {
  BeginRunning(4);
  Fail(1, 0, "rank 0 sent NaN to rank 1", Failure::kDiverged);
  Pass(milliseconds(3000));
  EXPECT_EQ(Class(), Failure::kDiverged);
}

TEST_F(CoordinatorSurvival, WhoIsDoneIsNotAsked) {
  BeginRunning(3);
  Done(1, 100);
  Die(2);
  Promise(0, 1, 98);
  ASSERT_TRUE(Last(0).has_view());
  EXPECT_EQ(Last(0).view().from(), 100);
  EXPECT_EQ(Last(0).view().again(), 100) << "the end is not settled";
  Done(0, 100);
  EXPECT_EQ(all_done_, 1);
}

TEST_F(CoordinatorSurvival, OnceTheEndIsSettledNothingIsEvaluatedAgain) {
  BeginRunning(3);
  coordinator_->ExtendRoundLimit(100, /*final=*/true);
  Die(2);
  Promise(0, 1, 99);
  Promise(1, 1, 99);
  ASSERT_TRUE(Last(0).has_view());
  EXPECT_FALSE(Last(0).view().has_again());
}

TEST_F(CoordinatorSurvival, TheLastThatIsNotDoneMayDie) {
  BeginRunning(3);
  Done(0, 100);
  Done(1, 100);
  EXPECT_EQ(all_done_, 0);
  Die(2);
  EXPECT_EQ(all_done_, 1);
  Die(1);  // while the results are written
  EXPECT_EQ(all_done_, 1);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

TEST_F(CoordinatorSurvival, APromiseThatCannotBeEndsTheRun) {
  BeginRunning(3);
  Promise(1, 1, 5);
  EXPECT_THAT(Message(), AllOf(HasSubstr("rank 1"), HasSubstr("answers ballot 1")));
  BeginRunning(3);
  Die(2);
  Promise(1, 1, 100);
  EXPECT_THAT(Message(), HasSubstr("promises what it was not asked for"));
}

TEST_F(CoordinatorSurvival, NobodyIsStuckWhoHasJustHeardOfALoss) {
  BeginRunning(3, milliseconds(4000));
  const auto waiting = [&] {
    Beat(0, 5, {1});
    Beat(1, 5, {0});
  };
  Pass(milliseconds(5900), [&] {
    waiting();
    if (lost_.empty()) return;
  });
  EXPECT_THAT(lost_, ElementsAre(2)) << "silent";
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  Pass(milliseconds(3000), waiting);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

}  // namespace
}  // namespace grapevine
