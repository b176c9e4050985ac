// Processes that come into a run that is under way, in the places of those that it has lost.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/node/control/coordinator_run.h"
#include "tests/node/control/packed_lists.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr SessionId kNew = 20;  // the session of the first newcomer

class CoordinatorNewcomers : public CoordinatorRun {
 protected:
  CoordinatorNewcomers() { resilient_ = true; }

  // Another process of that rank, at another address.
  static control::Registration Newcomer(Rank rank, Rank world_size = 4, uint64_t process = 77) {
    control::Registration registration = RegistrationOf(rank, world_size);
    registration.set_nonce(process);
    registration.set_address("10.0.1." + std::to_string(rank + 1) + ":7000");
    registration.set_joins(true);
    return registration;
  }
  // Of four, of which rank 2 is lost; the others go on without it from round 15 on.
  void BeginWithoutRank2() {
    BeginRunning(4);
    LoseProcess(2);
    Collect();
    for (const Rank rank : {0, 1, 3}) Promise(rank, 1, 14);
    ASSERT_THAT(MembersIn(Last(3).view()), ElementsAre(0, 1, 3));
    directives_.clear();
    notices_.clear();
    ended_.clear();
  }
  void PromiseAll(const std::vector<Rank>& ranks, uint32_t ballot, Round round) {
    for (const Rank rank : ranks) Promise(rank, ballot, round);
  }
  const std::string& Refusal(SessionId session) { return Last(session).abort().message(); }
};

TEST_F(CoordinatorNewcomers, OneComesInOnceTheOthersHaveAgreed) {
  BeginWithoutRank2();
  now_ += seconds(3);
  for (const Rank rank : {0, 1, 3}) Beat(rank, 20);
  Register(kNew, Newcomer(2));
  EXPECT_THAT(directives_[kNew], IsEmpty()) << "it waits";
  EXPECT_THAT(notices_, ElementsAre("rank 2 at 10.0.1.3:7000 wants to come in"));
  for (const Rank rank : {0, 1, 3}) ASSERT_EQ(Last(rank).prepare().ballot(), 2u);
  PromiseAll({0, 1, 3}, 2, 30);
  for (const Rank rank : {0, 1, 3}) {
    const control::View& view = Last(rank).view();
    EXPECT_EQ(view.epoch(), 2u);
    EXPECT_EQ(view.from(), 31);
    EXPECT_THAT(MembersIn(view), ElementsAre(0, 1, 2, 3));
    ASSERT_EQ(view.newcomers_size(), 1);
    EXPECT_EQ(view.newcomers(0).rank(), 2);
    EXPECT_EQ(view.newcomers(0).process(), 77u);
    EXPECT_EQ(view.newcomers(0).address(), "10.0.1.3:7000");
  }
  ASSERT_EQ(directives_[kNew].size(), 1u);
  EXPECT_EQ(Last(kNew).number(), 1u);
  const control::Roster& roster = Last(kNew).roster();
  EXPECT_EQ(roster.run_id(), "run-1");
  EXPECT_EQ(roster.round_limit(), 100);
  EXPECT_THAT(AddressesIn(roster),
              ElementsAre("10.0.0.1:7000", "10.0.0.2:7000", "10.0.1.3:7000", "10.0.0.4:7000"));
  EXPECT_EQ(roster.joined().view().SerializeAsString(), Last(0).view().SerializeAsString());
  ASSERT_EQ(roster.joined().before_size(), 1);
  EXPECT_THAT(MembersIn(roster.joined().before(0)), ElementsAre(0, 1, 3));
  EXPECT_EQ(roster.joined().time_ns(), 3'000'000'000);
  EXPECT_THAT(newcomers_, ElementsAre(Pair(2, 31)));
  EXPECT_THAT(notices_, Contains("rank 2 at 10.0.1.3:7000 comes in from round 31 on; 4 of 4 nodes "
                                 "go on"));
}

TEST_F(CoordinatorNewcomers, ItIsAMemberAsTheOthersFromThereOn) {
  BeginWithoutRank2();
  Register(kNew, Newcomer(2));
  PromiseAll({0, 1, 3}, 2, 30);
  control::Report done;
  done.mutable_done()->set_round_limit(100);
  for (const Rank rank : {0, 1, 3}) Done(rank, 100);
  EXPECT_EQ(all_done_, 0);
  coordinator_->OnReport(kNew, done, now_);
  Collect();
  EXPECT_EQ(all_done_, 1);
  coordinator_->Finish();
  Collect();
  EXPECT_TRUE(Last(kNew).has_finish());
}

TEST_F(CoordinatorNewcomers, ItMayBeLostAndComeAgain) {
  BeginWithoutRank2();
  uint32_t ballot = 1;
  for (uint64_t life = 1; life <= 3; ++life) {
    const SessionId session = kNew + static_cast<SessionId>(life);
    Register(session, Newcomer(2, 4, 100 + life));
    PromiseAll({0, 1, 3}, ++ballot, 30);
    ASSERT_TRUE(Last(session).has_roster());
    EXPECT_EQ(Last(session).roster().joined().before_size(), static_cast<int>(2 * life - 1));
    coordinator_->OnClosed(session, "connection lost", now_);
    coordinator_->OnGone(2, "nobody listens at its address any more", now_);
    Collect();
    PromiseAll({0, 1, 3}, ++ballot, 30);
    EXPECT_THAT(MembersIn(Last(3).view()), ElementsAre(0, 1, 3));
    EXPECT_EQ(Last(3).view().newcomers_size(), 0);
  }
}

TEST_F(CoordinatorNewcomers, TwoWaitAndComeInTogether) {
  BeginRunning(4);
  LoseProcess(2);
  LoseProcess(3);
  Collect();
  Register(kNew, Newcomer(2));
  Register(kNew + 1, Newcomer(3));
  PromiseAll({0, 1}, 2, 14);
  PromiseAll({0, 1}, 3, 15);
  EXPECT_THAT(MembersIn(Last(0).view()), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(Last(0).view().newcomers_size(), 2);
  for (const SessionId session : {kNew, kNew + 1}) {
    ASSERT_EQ(directives_[session].size(), 1u);
    EXPECT_EQ(Last(session).roster().joined().view().newcomers_size(), 2);
    EXPECT_THAT(AddressesIn(Last(session).roster()),
                ElementsAre("10.0.0.1:7000", "10.0.0.2:7000", "10.0.1.3:7000", "10.0.1.4:7000"));
  }
}

TEST_F(CoordinatorNewcomers, WithoutShrinkNobodyIsTakenIn) {
  resilient_ = false;
  BeginRunning(4);
  Register(kNew, Newcomer(2));
  EXPECT_THAT(Refusal(kNew), HasSubstr("the run is under way, and rank 0 takes nobody in; that "
                                       "needs --on-failure=shrink on all nodes"));
  EXPECT_EQ(Last(kNew).abort().failure(), static_cast<int>(Failure::kRendezvous));
  EXPECT_THAT(ended_, ElementsAre(kNew));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

TEST_F(CoordinatorNewcomers, ARankThatIsThereIsNotTaken) {
  BeginRunning(4);
  Register(kNew, Newcomer(2));
  EXPECT_THAT(Refusal(kNew), HasSubstr("rank 2 is taken by the process at 10.0.0.3:7000, which is "
                                       "in the run"));
  EXPECT_EQ(Last(kNew).abort().failure(), static_cast<int>(Failure::kRendezvous));
  Register(kNew + 1, Newcomer(0));
  EXPECT_THAT(Refusal(kNew + 1), HasSubstr("rank 0 is taken"));
  for (const Rank rank : {0, 1, 2, 3}) EXPECT_THAT(directives_[rank], IsEmpty()) << rank;
  EXPECT_THAT(lost_, IsEmpty());
}

TEST_F(CoordinatorNewcomers, OnlyOneOfARankWaits) {
  BeginWithoutRank2();
  Register(kNew, Newcomer(2));
  Register(kNew + 1, Newcomer(2, 4, 78));
  EXPECT_THAT(Refusal(kNew + 1), HasSubstr("another process of rank 2, at 10.0.1.3:7000, waits to "
                                           "come in already"));
  PromiseAll({0, 1, 3}, 2, 30);
  EXPECT_TRUE(Last(kNew).has_roster());
}

TEST_F(CoordinatorNewcomers, OneOfAnotherExperimentIsRefusedAlone) {
  BeginWithoutRank2();
  control::Registration other = Newcomer(2);
  other.mutable_agreements(2)->set_value("0.2");
  Register(kNew, other);
  EXPECT_THAT(Refusal(kNew), AllOf(HasSubstr("lr"), HasSubstr("0.2")));
  Register(kNew + 1, Newcomer(7));
  EXPECT_TRUE(Last(kNew + 1).has_abort());
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  for (const Rank rank : {0, 1, 3}) EXPECT_THAT(directives_[rank], IsEmpty()) << rank;
}

// A job manager that starts it again does not know whether the run began at a checkpoint.
TEST_F(CoordinatorNewcomers, WhatThoseWhoBeginAgreeUponIsNotAskedOfIt) {
  BeginWithoutRank2();
  control::Registration other = Newcomer(2);
  control::Agreement& resumes = *other.add_agreements();
  resumes.set_name("--resume");
  resumes.set_value("given");
  Register(kNew, other);
  EXPECT_THAT(Refusal(kNew), HasSubstr("--resume"));
  resumes.set_of_the_start(true);
  Register(kNew + 1, other);
  PromiseAll({0, 1, 3}, 2, 30);
  EXPECT_TRUE(Last(kNew + 1).has_roster());
}

TEST_F(CoordinatorNewcomers, TheSameProcessDoesNotComeBack) {
  BeginWithoutRank2();
  Register(kNew, Newcomer(2, 4, RegistrationOf(2, 4).nonce()));
  EXPECT_THAT(Refusal(kNew),
              HasSubstr("the others go on without it: rank 2 at 10.0.0.3:7000 died"));
  EXPECT_THAT(directives_[0], IsEmpty());
}

TEST_F(CoordinatorNewcomers, InTheLastRoundsItIsTurnedAway) {
  BeginWithoutRank2();
  Register(kNew, Newcomer(2));
  PromiseAll({0, 1, 3}, 2, 99);
  EXPECT_THAT(Refusal(kNew), HasSubstr("the run is in its last rounds; there is none left for it"));
  EXPECT_EQ(Last(0).view().newcomers_size(), 0);
  EXPECT_THAT(MembersIn(Last(0).view()), ElementsAre(0, 1, 3));
  EXPECT_THAT(newcomers_, IsEmpty());
  Done(1, 100);
  Register(kNew + 1, Newcomer(2, 4, 78));
  EXPECT_THAT(Refusal(kNew + 1), HasSubstr("the run is in its last rounds"));
  Done(0, 100);
  Done(3, 100);
  EXPECT_EQ(all_done_, 1);
}

TEST_F(CoordinatorNewcomers, WhoLeavesWhileItWaitsIsForgotten) {
  BeginWithoutRank2();
  Register(kNew, Newcomer(2));
  coordinator_->OnClosed(kNew, "connection lost", now_);
  Collect();
  PromiseAll({0, 1, 3}, 2, 30);
  EXPECT_EQ(Last(0).view().newcomers_size(), 0);
  EXPECT_THAT(newcomers_, IsEmpty());
  Register(kNew + 1, Newcomer(2, 4, 78));
  PromiseAll({0, 1, 3}, 3, 40);
  ASSERT_TRUE(Last(kNew + 1).has_roster());
  EXPECT_EQ(Last(0).view().newcomers(0).process(), 78u);
}

// By then nobody may be left who could agree.
TEST_F(CoordinatorNewcomers, OnceTheRunIsOverNobodyComesIn) {
  BeginWithoutRank2();
  for (const Rank rank : {0, 1, 3}) Done(rank, 100);
  coordinator_->Finish();
  for (const Rank rank : {0, 1, 3}) coordinator_->OnLeft(rank, now_);
  Collect();
  Register(kNew, Newcomer(2));
  ASSERT_FALSE(directives_[kNew].empty());
  EXPECT_THAT(Refusal(kNew), HasSubstr("the run is over"));
  EXPECT_THAT(ended_, Contains(kNew));
}

TEST_F(CoordinatorNewcomers, WhoLeavesInOrderWhileItWaitsIsForgotten) {
  BeginWithoutRank2();
  Register(kNew, Newcomer(2));
  coordinator_->OnLeft(kNew, now_);
  Collect();
  PromiseAll({0, 1, 3}, 2, 30);
  EXPECT_EQ(Last(0).view().newcomers_size(), 0);
}

// Its connection broke, and it has made another.
TEST_F(CoordinatorNewcomers, WhoWaitsMayConnectAgain) {
  BeginWithoutRank2();
  control::Registration registration = Newcomer(2);
  Register(kNew, registration);
  registration.set_call(1);
  Register(kNew + 1, registration);
  coordinator_->OnClosed(kNew, "connection lost", now_);
  Collect();
  PromiseAll({0, 1, 3}, 2, 30);
  EXPECT_THAT(directives_[kNew], IsEmpty());
  ASSERT_TRUE(Last(kNew + 1).has_roster());
  coordinator_->OnClosed(kNew + 1, "connection lost", now_);
  registration.set_call(2);
  Register(kNew + 2, registration);
  EXPECT_TRUE(Last(kNew + 2).has_roster()) << "what it may not have heard is said again";
}

TEST_F(CoordinatorNewcomers, OneThatComesBeforeTheRunBeginsIsAsAnyOther) {
  Begin(2);
  control::Registration one = RegistrationOf(1, 2);
  one.set_joins(true);
  Register(0, RegistrationOf(0, 2));
  Register(1, one);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  ASSERT_TRUE(Last(1).has_roster());
  EXPECT_FALSE(Last(1).roster().has_joined());
}

TEST_F(CoordinatorNewcomers, WhoWaitsHearsHowTheRunEnds) {
  BeginWithoutRank2();
  Register(kNew, Newcomer(2));
  Fail(1, 1, "rank 1: the loss is NaN in round 20", Failure::kDiverged);
  EXPECT_THAT(Refusal(kNew), HasSubstr("the loss is NaN"));
  EXPECT_THAT(ended_, Contains(kNew));
  Register(kNew + 1, Newcomer(2, 4, 78));
  EXPECT_THAT(Refusal(kNew + 1), HasSubstr("the loss is NaN"));
}

// What was said of the process before is not said of this one.
TEST_F(CoordinatorNewcomers, OldAccusationsDoNotCount) {
  BeginRunning(4);
  Fail(1, 2, "rank 1 lost rank 2", Failure::kPeerLost);
  LoseProcess(2);
  Collect();
  Fail(3, 2, "rank 3 lost rank 2", Failure::kPeerLost);
  PromiseAll({0, 1, 3}, 1, 14);
  Register(kNew, Newcomer(2));
  PromiseAll({0, 1, 3}, 2, 30);
  ASSERT_TRUE(Last(kNew).has_roster());
  control::Report beat;
  beat.mutable_heartbeat()->set_round(31);
  Pass(milliseconds(3900), [&] {
    for (const Rank rank : {0, 1, 3}) Beat(rank, 31, {}, now_.time_since_epoch().count());
    coordinator_->OnReport(kNew, beat, now_);
    Collect();
  });
  EXPECT_THAT(lost_, ElementsAre(2)) << "the one before";
}

// Nothing has been heard of it, and its time begins when it comes in.
TEST_F(CoordinatorNewcomers, ASilentNewcomerIsLostAsAnyOther) {
  BeginWithoutRank2();
  Register(kNew, Newcomer(2));
  PromiseAll({0, 1, 3}, 2, 30);
  lost_.clear();
  const auto beat = [&] {
    for (const Rank rank : {0, 1, 3}) Beat(rank, 31, {}, now_.time_since_epoch().count());
  };
  Pass(milliseconds(3900), beat);
  EXPECT_THAT(lost_, IsEmpty());
  Pass(milliseconds(300), beat);
  EXPECT_THAT(lost_, ElementsAre(2));
  EXPECT_THAT(Refusal(kNew), HasSubstr("is silent"));
}

// Three of four are too few.
class CoordinatorNewcomersAwaited : public CoordinatorNewcomers {
 protected:
  CoordinatorNewcomersAwaited() {
    waits_ = true;
    min_nodes_ = 4;
  }
  // They are in round 14, and begin no other.
  void WaitWithoutRank2() {
    BeginRunning(4);
    LoseProcess(2);
    Collect();
    PromiseAll({0, 1, 3}, 1, 14);
    ASSERT_EQ(Last(3).prepare().ballot(), 2u) << "after the view";
    PromiseAll({0, 1, 3}, 2, 14);
    ASSERT_TRUE(Last(3).has_prepare()) << "no view is agreed upon";
  }
  void BeatAll() {
    for (const Rank rank : {0, 1, 3}) Beat(rank, 14);
  }
};

TEST_F(CoordinatorNewcomersAwaited, TheOthersWaitForOne) {
  WaitWithoutRank2();
  Pass(seconds(19), [&] { BeatAll(); });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  EXPECT_THAT(notices_, Contains("3 of 4 nodes are left, fewer than --min-nodes=4: they wait for "
                                 "others to come in, up to --rendezvous-timeout=20s"));
  Register(kNew, Newcomer(2));
  PromiseAll({0, 1, 3}, 3, 14);
  EXPECT_EQ(Last(0).view().from(), 15);
  EXPECT_THAT(MembersIn(Last(0).view()), ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(Last(kNew).has_roster());
  Pass(seconds(25), [&] {
    BeatAll();
    control::Report report;
    report.mutable_heartbeat()->set_round(15);
    coordinator_->OnReport(kNew, report, now_);
  });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
}

TEST_F(CoordinatorNewcomersAwaited, TheyDoNotWaitForever) {
  WaitWithoutRank2();
  Pass(seconds(21), [&] { BeatAll(); });
  EXPECT_EQ(Message(),
            "3 of 4 nodes are left, fewer than --min-nodes=4, and not enough others have come in "
            "within --rendezvous-timeout=20s; start them with grapevine node --join, or let fewer "
            "go on");
  EXPECT_EQ(Class(), Failure::kPeerLost);
}

TEST_F(CoordinatorNewcomersAwaited, WhoFallsSilentMeanwhileIsLost) {
  WaitWithoutRank2();
  Pass(seconds(5), [&] {
    for (const Rank rank : {0, 1}) Beat(rank, 14);
  });
  EXPECT_THAT(lost_, ElementsAre(2, 3));
}

TEST_F(CoordinatorNewcomersAwaited, InTheLastRoundNobodyIsWaitedFor) {
  BeginRunning(4);
  LoseProcess(2);
  Collect();
  PromiseAll({0, 1, 3}, 1, 98);
  PromiseAll({0, 1, 3}, 2, 99);
  EXPECT_EQ(Last(3).view().from(), 100);
  for (const Rank rank : {0, 1, 3}) Done(rank, 100);
  EXPECT_EQ(all_done_, 1);
}

class CoordinatorNewcomersProven : public CoordinatorNewcomers {
 protected:
  void SetUp() override {
    Begin(4, milliseconds(4000), /*proven=*/true);
    for (Rank rank = 0; rank < 4; ++rank) Register(rank, RegistrationOf(rank, 4));
    directives_.clear();
  }
};

// It is faster than the news of the end of the one before.
TEST_F(CoordinatorNewcomersProven, WhoComesInThePlaceOfAnAbsentOneSaysThatItIsGone) {
  coordinator_->OnClosed(2, "connection lost", now_);
  Register(kNew, Newcomer(2));
  EXPECT_THAT(lost_, ElementsAre(2));
  PromiseAll({0, 1, 3}, 1, 14);
  ASSERT_TRUE(Last(0).has_prepare()) << "and again, with it";
  PromiseAll({0, 1, 3}, 2, 14);
  EXPECT_TRUE(Last(kNew).has_roster());
}

TEST_F(CoordinatorNewcomersProven, OneThatDoesNotFitEndsNothing) {
  LoseProcess(2);
  Collect();
  control::Registration other = Newcomer(2);
  other.mutable_agreements(2)->set_value("0.2");
  Register(kNew, other);
  EXPECT_TRUE(Last(kNew).has_abort());
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

// Rank 1's, of a run of four that rank 0 has begun.
class CoordinatorNewcomersInSuccession : public CoordinatorNewcomers {
 protected:
  void SetUp() override {
    n_ = 4;
    coordinator_.emplace(CoordinatorOptions{.own = RegistrationOf(1, n_),
                                            .run_id = "run-1",
                                            .resilient = true,
                                            .min_nodes = 3,
                                            .role_moves = true,
                                            .succession = SuccessionIn(n_),
                                            .peer_timeout = milliseconds(4000)},
                         now_);
  }
  void Come(Rank rank) { Register(rank, ComesToSuccessor(rank, n_)); }
};

TEST_F(CoordinatorNewcomersInSuccession, WhoComesEarlyIsConsideredOnceTheRunGoesOn) {
  for (const Rank rank : {1, 2}) Come(rank);
  Register(kNew, Newcomer(0));
  EXPECT_THAT(directives_[kNew], IsEmpty());
  Come(3);
  EXPECT_THAT(lost_, ElementsAre(0));
  EXPECT_THAT(directives_[kNew], IsEmpty()) << "the others have to miss rank 0 first";
  PromiseAll({1, 2, 3}, 1, 14);
  PromiseAll({1, 2, 3}, 2, 14);
  ASSERT_TRUE(Last(kNew).has_roster());
  EXPECT_EQ(Last(kNew).roster().joined().view().lead(), 1);
  EXPECT_THAT(AddressesIn(Last(kNew).roster()),
              ElementsAre("10.0.1.1:7000", "10.0.0.2:7000", "10.0.0.3:7000", "10.0.0.4:7000"));
}

TEST_F(CoordinatorNewcomersInSuccession, WhoLeavesMeanwhileIsForgotten) {
  for (const Rank rank : {1, 2}) Come(rank);
  Register(kNew, Newcomer(0));
  coordinator_->OnClosed(kNew, "connection lost", now_);
  Come(3);
  PromiseAll({1, 2, 3}, 1, 14);
  EXPECT_TRUE(Last(2).has_view());
  EXPECT_THAT(newcomers_, IsEmpty());
}

TEST_F(CoordinatorNewcomersInSuccession, WhoCameEarlyHearsThatTheRunDoesNotGoOn) {
  for (const Rank rank : {1, 2}) Come(rank);
  Register(kNew, Newcomer(0));
  coordinator_->OnGone(3, "nobody listens there", now_);
  Collect();
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kAborted);
  EXPECT_THAT(Refusal(kNew), HasSubstr("fewer than --min-nodes=3"));
}

}  // namespace
}  // namespace grapevine
