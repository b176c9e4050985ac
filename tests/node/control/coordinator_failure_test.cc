// What a coordinator makes of deaths, silence, accusations and reports that break the protocol.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/node/control/coordinator_run.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using CoordinatorFailure = CoordinatorRun;

TEST_F(CoordinatorFailure, ABrokenConnectionIsADeath) {
  BeginRunning(3);
  Beat(1, 12);
  Beat(2, 12, {1});
  LoseProcess(1);
  Collect();
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), AllOf(HasSubstr("rank 1 at 10.0.0.2:7000 died"), HasSubstr("round 12"),
                               HasSubstr("connection lost"), HasSubstr("rank 2 waits for it")));
  for (const SessionId session : {0, 2}) {
    ASSERT_TRUE(directives_[session].back().has_abort());
    EXPECT_EQ(directives_[session].back().abort().culprit(), 1);
    EXPECT_EQ(directives_[session].back().abort().message(), Message());
  }
}

TEST_F(CoordinatorFailure, SilenceBeyondThePeerTimeoutIsAVerdict) {
  BeginRunning(3);
  Beat(2, 812);
  const auto others = [&] {
    Beat(0, 813, {2}, now_.time_since_epoch().count());
    Beat(1, 813, {2}, now_.time_since_epoch().count());
  };
  Pass(milliseconds(3900), others);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  Pass(milliseconds(200), others);
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), AllOf(HasSubstr("rank 2 at 10.0.0.3:7000 is silent: last heard 4.0 s"),
                               HasSubstr("round 812"), HasSubstr("ranks 0, 1 wait for it"),
                               HasSubstr("--peer-timeout=4s")));
}

TEST_F(CoordinatorFailure, ANodesOwnFailureIsTheVerdictAtOnce) {
  BeginRunning(3);
  Fail(1, 1, "rank 1: the loss is NaN in round 5", Failure::kDiverged);
  EXPECT_EQ(Class(), Failure::kDiverged);
  EXPECT_EQ(Message(), "rank 1: the loss is NaN in round 5");
  LoseProcess(2);  // what follows changes nothing
  EXPECT_EQ(Class(), Failure::kDiverged);
}

TEST_F(CoordinatorFailure, AnAccusedNodeMaySpeakFirst) {
  BeginRunning(3);
  Fail(0, 1, "rank 0: connection to peer 1 broke", Failure::kPeerLost);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  Fail(1, 1, "rank 1: the disk is full", Failure::kOutput);
  EXPECT_EQ(Class(), Failure::kOutput);
}

TEST_F(CoordinatorFailure, AnAccusationStandsWhenTheAccusedSaysNothing) {
  BeginRunning(3);
  Beat(1, 40);
  Fail(0, 1, "rank 0: peer 1 silent since 4.0 s in round 41", Failure::kPeerLost);
  Pass(milliseconds(1000), [&] { Beat(1, 40); });
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), AllOf(HasSubstr("peer 1 silent since 4.0 s in round 41"),
                               HasSubstr("rank 0 heard from rank 1 0.0 s ago in round 40")));
}

TEST_F(CoordinatorFailure, AnAccusedNodeThatDiesIsReportedDead) {
  BeginRunning(3);
  Fail(0, 1, "rank 0: connection to peer 1 broke", Failure::kPeerLost);
  LoseProcess(1);
  EXPECT_THAT(Message(), HasSubstr("rank 1 at 10.0.0.2:7000 died"));
}

// A busy host: what rank 1 said last and the end of its connection are read late.
TEST_F(CoordinatorFailure, TheEndOfAnAccusedNodesConnectionIsWaitedForUnlessItSpeaks) {
  BeginRunning(3);
  const auto others = [&] {
    Beat(0, 41, {1}, now_.time_since_epoch().count());
    Beat(2, 41, {1}, now_.time_since_epoch().count());
  };
  Fail(2, 1, "rank 2 lost rank 1 in round 41: connection reset", Failure::kPeerLost);
  Pass(milliseconds(500), others);
  Beat(1, 40);
  Pass(milliseconds(1400), others);
  ASSERT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  LoseProcess(1);
  EXPECT_THAT(Message(), HasSubstr("rank 1 at 10.0.0.2:7000 died: its connection to rank 0 broke "
                                   "in round 40"));
}

TEST_F(CoordinatorFailure, AnAccusedNodeThatIsNotHeardAtAllHasHalfThePeerTimeout) {
  BeginRunning(3);
  Beat(1, 40);
  const auto others = [&] { Beat(0, 41), Beat(2, 41); };
  Fail(2, 1, "rank 2 lost rank 1 in round 41: connection reset", Failure::kPeerLost);
  Pass(milliseconds(1900), others);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  Pass(milliseconds(100), others);
  EXPECT_EQ(Message(),
            "rank 2 lost rank 1 in round 41: connection reset; rank 0 heard from rank 1 2.0 s ago "
            "in round 40, computing");
}

TEST_F(CoordinatorFailure, WhileRankZeroItselfStoodStillNobodyWasHeard) {
  BeginRunning(3);
  Beat(1, 40);
  Fail(2, 1, "rank 2 lost rank 1 in round 41: connection reset", Failure::kPeerLost);
  now_ += milliseconds(3000);
  coordinator_->OnTick(now_);
  ASSERT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  LoseProcess(1);
  EXPECT_THAT(Message(), HasSubstr("rank 1 at 10.0.0.2:7000 died"));
}

TEST_F(CoordinatorFailure, AnAbsurdFailureReportEndsWithANonZeroCode) {
  BeginRunning(2);
  Fail(1, 99, "rubbish", Failure::kNone);
  EXPECT_EQ(Class(), Failure::kOther);
  EXPECT_EQ(directives_[0].back().abort().culprit(), 1);
}

// An exit code has eight bits: 256 would end a failed run with 0, and 300 with 44.
TEST_F(CoordinatorFailure, AFailureWithAnUndocumentedNumberIsTheOtherFailure) {
  for (const int number : {256, -256, 512, 300, 9, -1, 1 << 30}) {
    BeginRunning(2);
    Fail(1, 1, "rubbish", static_cast<Failure>(number));
    EXPECT_EQ(Class(), Failure::kOther) << number;
    EXPECT_EQ(directives_[0].back().abort().failure(), static_cast<int>(Failure::kOther)) << number;

    BeginRunning(2);
    Fail(1, 0, "rank 1 lost rank 0", static_cast<Failure>(number));
    Pass(milliseconds(1000), [&] { Beat(0, 1), Beat(1, 1); });
    EXPECT_EQ(Class(), Failure::kOther) << number;
  }
}

TEST_F(CoordinatorFailure, WhatNodesSayIsFitForATerminal) {
  Begin(3);
  control::Registration hostile = RegistrationOf(1, 3);
  hostile.set_address("\033]0;title\007\n[0] all is well");
  Register(7, hostile);
  for (const std::string& text : {notices_.at(0), directives_[7][0].abort().message()}) {
    EXPECT_THAT(text, HasSubstr("\\x1b]0;title\\x07\\x0a[0] all is well"));
    EXPECT_THAT(text, Not(::testing::ContainsRegex("[[:cntrl:]]")));
  }

  BeginRunning(2);
  Fail(1, 1, "rank 1: \033[2J" + std::string(100000, 'x'), Failure::kOther);
  EXPECT_THAT(Message(), ::testing::StartsWith("rank 1: \\x1b[2Jxxx"));
  EXPECT_LT(Message().size(), 10000u);

  BeginRunning(2);
  control::Report report;
  report.mutable_heartbeat()->set_state("\033[31m");
  coordinator_->OnReport(1, report, now_);
  LoseProcess(1);
  EXPECT_THAT(Message(), HasSubstr("in round 0, \\x1b[31m"));
}

TEST_F(CoordinatorFailure, AMemberThatRegistersAgainBreaksTheProtocol) {
  BeginRunning(2);
  Register(1, RegistrationOf(1, 2));
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(),
              AllOf(HasSubstr("rank 1 at 10.0.0.2:7000"), HasSubstr("registered twice")));
}

TEST_F(CoordinatorFailure, AnUnknownReportIsAVerdictAgainstItsSender) {
  BeginRunning(2);
  coordinator_->OnReport(1, control::Report(), now_);
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), HasSubstr("rank 1 sent a report"));
}

TEST_F(CoordinatorFailure, UnauthenticatedCallersAreIgnored) {
  BeginRunning(2);
  control::Report metrics;
  metrics.mutable_metrics()->set_round(1);
  coordinator_->OnReport(55, metrics, now_);
  coordinator_->OnClosed(55, "", now_);
  Register(56, RegistrationOf(1, 2));
  EXPECT_THAT(metrics_, IsEmpty());
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  EXPECT_THAT(directives_[56].back().abort().message(), HasSubstr("the run has already begun"));
}

TEST_F(CoordinatorFailure, AShortStandstillOfRankZeroIsNotOthersSilence) {
  BeginRunning(2);
  Pass(milliseconds(1000), [&] { Beat(0, 1); });
  now_ += milliseconds(3900);
  coordinator_->OnTick(now_);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
}

}  // namespace
}  // namespace grapevine
