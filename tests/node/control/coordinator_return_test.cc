// Nodes whose connections to rank 0 break, and that come back.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/node/control/coordinator_run.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CoordinatorReturn : public CoordinatorRun {
 protected:
  void Break(SessionId session) {
    coordinator_->OnClosed(session, "connection lost", now_);
    Collect();
  }
  void ComeBack(SessionId session, Rank rank, uint64_t call) {
    control::Registration registration = RegistrationOf(rank, n_);
    registration.set_call(call);
    registration.set_run_id("run-1");
    Register(session, registration);
  }
  // A report of `rank`, over `session`.
  void Metrics(SessionId session, uint64_t number, uint64_t received = 0) {
    control::Report report;
    report.set_number(number);
    report.set_received(received);
    report.mutable_metrics()->set_round(static_cast<Round>(number));
    coordinator_->OnReport(session, report, now_);
    Collect();
  }
  void Gone(Rank rank) {
    coordinator_->OnGone(rank, "nobody listens there any more", now_);
    Collect();
  }
};

TEST_F(CoordinatorReturn, ABrokenConnectionCostsNothingIfItIsMadeAgain) {
  BeginRunning(3);
  coordinator_->ExtendRoundLimit(120, false);  // lost with the connection
  Break(1);
  EXPECT_THAT(coordinator_->absent(), ElementsAre(std::pair(Rank{1}, "10.0.0.2:7000")));
  coordinator_->ExtendRoundLimit(140, true);
  Collect();
  Pass(milliseconds(3000), [&] { Beat(0, 1), Beat(2, 1); });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  directives_.clear();
  ComeBack(7, 1, 1);
  EXPECT_THAT(coordinator_->absent(), IsEmpty());
  // From the first that it has not acknowledged.
  ASSERT_EQ(directives_[7].size(), 3u);
  EXPECT_TRUE(directives_[7][0].has_roster());
  EXPECT_EQ(directives_[7][1].round_limit().limit(), 120);
  EXPECT_EQ(directives_[7][2].round_limit().limit(), 140);
  EXPECT_EQ(directives_[7][2].number(), 3u);
  EXPECT_THAT(notices_, ElementsAre("rank 1 is connected again, 3.0 s after it was last heard"));
  for (const SessionId session : {0, 2, 7}) Done(static_cast<Rank>(session), 140);
  EXPECT_EQ(all_done_, 1);
}

TEST_F(CoordinatorReturn, WhatHasComeIsNeitherToldNorTakenAgain) {
  BeginRunning(2);
  Metrics(1, 1, 1);  // it has the roster
  Metrics(1, 2, 1);
  Break(1);
  ComeBack(5, 1, 1);
  EXPECT_THAT(directives_[5], IsEmpty());
  for (const uint64_t number : {1, 2, 3}) Metrics(5, number, 1);
  EXPECT_THAT(metrics_, ElementsAre(std::pair(1, 1), std::pair(1, 2), std::pair(1, 3)));
}

TEST_F(CoordinatorReturn, ReportsThatAreMissingOrCannotBeAcknowledgedEndTheRun) {
  BeginRunning(2);
  Metrics(1, 2);
  EXPECT_THAT(Message(), AllOf(HasSubstr("rank 1"), HasSubstr("sent report 2 after 0")));
  BeginRunning(2);
  Metrics(1, 1, 9);
  EXPECT_THAT(Message(), HasSubstr("has heard 9 directives"));
}

TEST_F(CoordinatorReturn, ManyReportsAreAcknowledgedBetweenTicks) {
  BeginRunning(2);
  uint64_t acknowledged = 0;
  for (uint64_t number = 1; number <= 100; ++number) {
    control::Report report;
    report.set_number(number);
    report.mutable_metrics()->set_round(static_cast<Round>(number));
    coordinator_->OnReport(1, report, now_);
    for (const auto& [session, directive] : coordinator_->Take().directives) {
      EXPECT_EQ(session, 1);
      acknowledged = directive.received();
    }
  }
  EXPECT_EQ(acknowledged, 64u);
}

TEST_F(CoordinatorReturn, AProcessThatIsGoneHasDied) {
  BeginRunning(3);
  Beat(1, 12);
  Break(1);
  Gone(2);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << "its connection stands";
  Gone(1);
  EXPECT_THAT(Message(), AllOf(HasSubstr("rank 1 at 10.0.0.2:7000 died"), HasSubstr("round 12"),
                               HasSubstr("(connection lost, and nobody listens there any more)")));
  EXPECT_THAT(coordinator_->absent(), IsEmpty());
}

TEST_F(CoordinatorReturn, ANodeThatLeavesInOrderHasDied) {
  BeginRunning(3);
  coordinator_->OnLeft(1, now_);
  Collect();
  EXPECT_THAT(Message(),
              AllOf(HasSubstr("rank 1 at 10.0.0.2:7000 died"), HasSubstr("(closed by the node)")));
}

TEST_F(CoordinatorReturn, OneThatDoesNotComeBackIsSilent) {
  BeginRunning(3);
  Break(1);
  Pass(milliseconds(3900), [&] { Beat(0, 1), Beat(2, 1); });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  Pass(milliseconds(200), [&] { Beat(0, 1), Beat(2, 1); });
  EXPECT_THAT(Message(), AllOf(HasSubstr("rank 1 at 10.0.0.2:7000 is silent: last heard 4.0 s"),
                               HasSubstr("its connection broke, and it has not come back")));
}

// The network has forgotten the old connection, and has told the node alone.
TEST_F(CoordinatorReturn, ALaterCallTakesTheOldOnesPlace) {
  BeginRunning(2);
  Metrics(1, 1, 1);
  ComeBack(5, 1, 1);
  EXPECT_THAT(replaced_, ElementsAre(1));
  Metrics(1, 2, 1);  // comes late; the node says it again
  Metrics(5, 2, 1);
  Break(1);
  EXPECT_THAT(coordinator_->absent(), IsEmpty());
  EXPECT_THAT(metrics_, ElementsAre(std::pair(1, 1), std::pair(1, 2)));
}

TEST_F(CoordinatorReturn, NobodyElseTakesItsPlace) {
  BeginRunning(2);
  ComeBack(5, 1, 1);
  Break(5);
  ComeBack(6, 1, 1);  // that call, heard by somebody and said again
  control::Registration other = RegistrationOf(1, 2);
  other.set_call(2);
  other.set_nonce(77);
  Register(7, other);
  control::Registration elsewhere = RegistrationOf(1, 2);
  elsewhere.set_call(2);
  elsewhere.set_run_id("run-2");
  Register(8, elsewhere);
  for (const SessionId session : {6, 7, 8}) {
    ASSERT_EQ(directives_[session].size(), 1u) << session;
    EXPECT_THAT(directives_[session][0].abort().message(), HasSubstr("the run has already begun"));
  }
  EXPECT_EQ(coordinator_->absent().size(), 1u);
  ComeBack(9, 1, 2);
  EXPECT_THAT(coordinator_->absent(), IsEmpty());
}

// Who has the token is of this run: the rank's process has been started anew.
TEST_F(CoordinatorReturn, AnotherProcessInThePlaceOfAnAbsentOneIsItsDeath) {
  Begin(2, milliseconds(4000), /*proven=*/true);
  for (const Rank rank : {0, 1}) Register(rank, RegistrationOf(rank, 2));
  control::Registration other = RegistrationOf(1, 2);
  other.set_nonce(77);
  Register(6, other);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << "the rank is there";
  Break(1);
  control::Registration elsewhere = other;
  elsewhere.set_address("10.0.0.9:7000");
  Register(7, elsewhere);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << "both may be there";
  Register(8, other);
  EXPECT_THAT(Message(),
              AllOf(HasSubstr("rank 1"), HasSubstr("another process came in its place")));
}

TEST_F(CoordinatorReturn, ARunThatHasNotBegunHereIsNotComeBackTo) {
  Begin(2);
  ComeBack(5, 1, 3);
  EXPECT_THAT(directives_[5].back().abort().message(),
              HasSubstr("comes back to a run that has not begun here"));
  Begin(2);
}

// What does not fit of who is awaited ends the run for all; but this one is not awaited here.
TEST_F(CoordinatorReturn, WhoComesBackToAnotherRunEndsNeither) {
  Begin(2, milliseconds(4000), /*proven=*/true);
  control::Registration back = RegistrationOf(1, 3);
  back.set_run_id("another");
  back.set_call(3);
  Register(5, back);
  EXPECT_THAT(directives_[5].back().abort().message(),
              HasSubstr("comes back to a run that has not begun here"));
  EXPECT_EQ(directives_[5].back().abort().failure(), static_cast<int>(Failure::kPeerLost));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kGathering);
}

// The roster was lost: to rank 0 the run has begun, to the node it has not.
TEST_F(CoordinatorReturn, WhoHasNotHeardOfTheBeginningHearsOfIt) {
  BeginRunning(2);
  Break(1);
  control::Registration again = RegistrationOf(1, 2);
  again.set_call(1);
  Register(5, again);
  ASSERT_EQ(directives_[5].size(), 1u);
  EXPECT_TRUE(directives_[5][0].has_roster());
}

TEST_F(CoordinatorReturn, TheEndIsToldToWhoComesBackForIt) {
  BeginRunning(2);
  Done(0, 100);
  Done(1, 100);
  Break(1);
  coordinator_->Finish();
  Collect();
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kFinished);
  EXPECT_TRUE(coordinator_->AwaitsLatecomers());
  ComeBack(5, 1, 1);
  EXPECT_TRUE(directives_[5].back().has_finish());
  EXPECT_FALSE(coordinator_->AwaitsLatecomers());

  BeginRunning(3);
  Break(1);
  Fail(2, 2, "rank 2: the disk is full", Failure::kOutput);
  EXPECT_TRUE(coordinator_->AwaitsLatecomers());
  ComeBack(5, 1, 1);
  EXPECT_EQ(directives_[5].back().abort().message(), "rank 2: the disk is full");
  EXPECT_FALSE(coordinator_->AwaitsLatecomers());
}

TEST_F(CoordinatorReturn, NobodyWaitsForTheDeadAtTheEnd) {
  BeginRunning(2);
  Done(0, 100);
  Done(1, 100);
  coordinator_->Finish();
  Break(1);
  EXPECT_TRUE(coordinator_->AwaitsLatecomers());
  Gone(1);
  EXPECT_FALSE(coordinator_->AwaitsLatecomers());
  EXPECT_TRUE(coordinator_->verdict().ok());
}

TEST_F(CoordinatorReturn, WhoIsLeftOutMeanwhileHearsSo) {
  resilient_ = true;
  BeginRunning(4);
  Break(1);
  Pass(milliseconds(4100), [&] { Beat(0, 1), Beat(2, 1), Beat(3, 1); });
  EXPECT_THAT(lost_, ElementsAre(1));
  ComeBack(5, 1, 1);
  EXPECT_THAT(directives_[5].back().abort().message(),
              AllOf(HasSubstr("the others go on without it"), HasSubstr("is silent")));
  EXPECT_EQ(directives_[5].back().abort().failure(), static_cast<int>(Failure::kPeerLost));
}

TEST_F(CoordinatorReturn, ViewsAreToldToWhoWasAway) {
  resilient_ = true;
  BeginRunning(4);
  Break(1);
  LoseProcess(2);
  Collect();
  ComeBack(5, 1, 1);
  EXPECT_EQ(directives_[5].back().prepare().ballot(), 1u);
}

TEST_F(CoordinatorReturn, WhatIsKeptForOneThatIsAwayIsBounded) {
  BeginRunning(2);
  Break(1);
  for (Round round = 1; round <= static_cast<Round>(Members::kMaxUnacknowledged); ++round) {
    coordinator_->OnCheckpoint(round);
  }
  Metrics(0, 1, Members::kMaxUnacknowledged + 1);  // it has them
  coordinator_->OnTick(now_);
  EXPECT_THAT(Message(), HasSubstr("rank 1 at 10.0.0.2:7000 has not taken 4097 directives"));
}

}  // namespace
}  // namespace grapevine
