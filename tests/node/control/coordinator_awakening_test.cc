// A coordinator that stood still itself, alone or with everybody.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "node/control/coordinator.h"
#include "tests/node/control/coordinator_run.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// --peer-timeout is 4 s.
class CoordinatorAwakening : public CoordinatorRun {
 protected:
  void StandStill(milliseconds time) {
    now_ += time;
    coordinator_->OnTick(now_);
    Collect();
  }
  void PassWith(milliseconds time, const std::vector<Rank>& alive) {
    Pass(time, [&] {
      for (const Rank rank : alive) Beat(rank, 5, {}, ++progress_);
    });
  }
  bool runs() const { return coordinator_->phase() == Coordinator::Phase::kRunning; }

  int64_t progress_ = 0;
};

TEST_F(CoordinatorAwakening, ARunThatStoodStillAsAWholeGoesOn) {
  for (const bool resilient : {false, true}) {
    resilient_ = role_moves_ = resilient;
    BeginRunning(3);
    PassWith(milliseconds(2000), {0, 1, 2});
    StandStill(milliseconds(100000));
    EXPECT_TRUE(runs()) << Message();
    EXPECT_THAT(notices_, Contains(HasSubstr("rank 0 itself stood still for 100.0 s")));
    PassWith(milliseconds(10000), {0, 1, 2});
    EXPECT_TRUE(runs()) << Message();
    EXPECT_THAT(lost_, IsEmpty());
  }
}

// The others wake a moment later each, but within --peer-timeout.
TEST_F(CoordinatorAwakening, WhoWakesLaterHasADeadlineAnew) {
  min_peer_timeout_ = milliseconds(1000);
  BeginRunning(3);
  PassWith(milliseconds(10000), {0, 1, 2});
  StandStill(milliseconds(60000));
  PassWith(milliseconds(2000), {0});
  PassWith(milliseconds(1900), {0, 1});
  EXPECT_TRUE(runs()) << Message();
  PassWith(milliseconds(10000), {0, 1, 2});
  EXPECT_TRUE(runs()) << Message();
}

TEST_F(CoordinatorAwakening, WhoDoesNotWakeIsSilent) {
  BeginRunning(3);
  PassWith(milliseconds(2000), {0, 1, 2});
  StandStill(milliseconds(60000));
  PassWith(milliseconds(5000), {0, 1});
  EXPECT_FALSE(runs());
  EXPECT_THAT(Message(), HasSubstr("rank 2 at 10.0.0.3:7000 is silent"));
}

// What they wait for is not to be counted either: a round, each other, the agreement of the few.
TEST_F(CoordinatorAwakening, NobodyIsStuckOrSlowForThat) {
  BeginRunning(2);
  Pass(milliseconds(2000), [&] {
    Beat(0, 5, {1}, 1);
    Beat(1, 5, {0}, 1);
  });
  StandStill(milliseconds(100000));  // --step-timeout is 60 s
  Pass(milliseconds(2000), [&] {
    Beat(0, 5, {1}, 1);
    Beat(1, 5, {0}, 1);
  });
  EXPECT_TRUE(runs()) << Message();
}

TEST_F(CoordinatorAwakening, WhoeverGathersGoesOnToo) {
  Begin(3);
  for (const Rank rank : {0, 1}) Register(rank, RegistrationOf(rank, 3));
  Pass(milliseconds(2000));
  StandStill(milliseconds(100000));  // --rendezvous-timeout is 20 s
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kGathering) << Message();
  Register(2, RegistrationOf(2, 3));
  EXPECT_TRUE(runs());
}

TEST_F(CoordinatorAwakening, ALeaseThatWasUncertainHasItsTimeAnew) {
  resilient_ = role_moves_ = true;
  BeginRunning(3);
  coordinator_->OnTenure(false, now_);
  LoseProcess(2);
  PassWith(milliseconds(2000), {0, 1});
  now_ += milliseconds(100000);  // --rendezvous-timeout is 20 s
  coordinator_->OnTenure(false, now_);
  coordinator_->OnTick(now_);
  EXPECT_TRUE(runs()) << Message();
  PassWith(milliseconds(5000), {0, 1});
  coordinator_->OnTenure(true, now_);
  Collect();
  EXPECT_TRUE(runs()) << Message();
  EXPECT_THAT(lost_, ElementsAre(2));
}

// It was rank 0 alone, and the others have ended.
TEST_F(CoordinatorAwakening, WhomTheOthersHaveLeftMeanwhileBlamesItself) {
  for (const bool resilient : {false, true}) {
    resilient_ = resilient;
    BeginRunning(3);
    PassWith(milliseconds(2000), {0, 1, 2});
    now_ += milliseconds(5000);
    for (const Rank rank : {1, 2}) coordinator_->OnLeft(rank, now_);
    PassWith(milliseconds(1000), {0});
    EXPECT_EQ(Class(), Failure::kPeerLost);
    EXPECT_THAT(Message(),
                AllOf(HasSubstr("rank 0 itself stood still for 5.0 s"),
                      HasSubstr("--peer-timeout=4s"), HasSubstr("ranks 1, 2 have gone meanwhile")));
    EXPECT_THAT(lost_, IsEmpty());
  }
}

// Where they go on without those that are lost, one that dies meanwhile is one that is lost.
TEST_F(CoordinatorAwakening, OneThatHasGoneIsLostOnceTheOthersAreHeard) {
  resilient_ = true;
  BeginRunning(4);
  PassWith(milliseconds(2000), {0, 1, 2, 3});
  StandStill(milliseconds(60000));
  LoseProcess(3);
  Collect();
  EXPECT_THAT(lost_, IsEmpty()) << "it may be the first of many";
  PassWith(milliseconds(2000), {0, 1, 2});
  EXPECT_TRUE(runs()) << Message();
  EXPECT_THAT(lost_, ElementsAre(3));
  EXPECT_TRUE(Last(1).has_prepare());
}

// What is read at once may have been said before they went.
TEST_F(CoordinatorAwakening, WhatTheyHadSaidBeforeProvesNothing) {
  resilient_ = true;
  BeginRunning(3);
  PassWith(milliseconds(2000), {0, 1, 2});
  now_ += milliseconds(5000);
  for (const Rank rank : {0, 1, 2}) Beat(rank, 5, {}, ++progress_);
  PassWith(milliseconds(500), {0});
  for (const Rank rank : {1, 2}) coordinator_->OnLeft(rank, now_);
  PassWith(milliseconds(1000), {0});
  EXPECT_THAT(Message(), HasSubstr("rank 0 itself stood still for 5.0 s"));
  EXPECT_THAT(lost_, IsEmpty());
}

// Its results would be of a run that the others have not ended.
TEST_F(CoordinatorAwakening, ARunIsNotDoneBeforeTheOthersAreHeard) {
  BeginRunning(2);
  PassWith(milliseconds(2000), {0, 1});
  StandStill(milliseconds(60000));
  for (const Rank rank : {0, 1}) Done(rank, 100);
  EXPECT_EQ(all_done_, 0);
  PassWith(milliseconds(2000), {0, 1});
  EXPECT_EQ(all_done_, 1);
}

}  // namespace
}  // namespace grapevine
