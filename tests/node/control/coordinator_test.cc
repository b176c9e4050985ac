#include "node/control/coordinator.h"

#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/control/registration.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr milliseconds kTick{100};

control::Registration RegistrationOf(Rank rank, Rank world_size) {
  control::Registration registration;
  registration.set_protocol_version(kControlProtocolVersion);
  registration.set_rank(rank);
  registration.set_world_size(world_size);
  registration.set_nonce(1000 + static_cast<uint64_t>(rank));
  registration.set_address("10.0.0." + std::to_string(rank + 1) + ":7000");
  for (const auto& [name, value] :
       {std::pair("topology", "ring"), std::pair("algorithm", "dpsgd"), std::pair("lr", "0.1")}) {
    control::Agreement* agreement = registration.add_agreements();
    agreement->set_name(name);
    agreement->set_value(value);
  }
  return registration;
}

// A coordinator of n nodes; session r belongs to rank r.
class CoordinatorTest : public testing::Test {
 protected:
  void Begin(Rank n, milliseconds peer_timeout = milliseconds(4000), bool proven = false) {
    n_ = n;
    coordinator_.emplace(CoordinatorOptions{.own = RegistrationOf(0, n),
                                            .proven = proven,
                                            .run_id = "run-1",
                                            .round_limit = 100,
                                            .rendezvous_timeout = milliseconds(20000),
                                            .peer_timeout = peer_timeout,
                                            .step_timeout = milliseconds(60000)},
                         now_);
  }

  void Register(SessionId session, const control::Registration& registration) {
    control::Report report;
    *report.mutable_registration() = registration;
    coordinator_->OnReport(session, report, now_);
    Collect();
  }

  void BeginRunning(Rank n, milliseconds peer_timeout = milliseconds(4000)) {
    notices_.clear();
    Begin(n, peer_timeout);
    for (Rank rank = 0; rank < n; ++rank) Register(rank, RegistrationOf(rank, n));
    ASSERT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
    directives_.clear();
  }

  void Beat(Rank rank, Round round, std::vector<Rank> waiting_for = {}, int64_t progress = 0) {
    control::Report report;
    control::Heartbeat* beat = report.mutable_heartbeat();
    beat->set_round(round);
    beat->set_progress(progress);
    beat->set_state(waiting_for.empty() ? "computing" : "waiting");
    for (const Rank awaited : waiting_for) beat->add_waiting_for(awaited);
    coordinator_->OnReport(rank, report, now_);
    Collect();
  }

  void Fail(Rank reporter, Rank culprit, const std::string& message, Failure failure) {
    control::Report report;
    report.mutable_failure()->set_culprit(culprit);
    report.mutable_failure()->set_message(message);
    report.mutable_failure()->set_failure(static_cast<int>(failure));
    coordinator_->OnReport(reporter, report, now_);
    Collect();
  }

  void Done(Rank rank, Round limit) {
    control::Report report;
    report.mutable_done()->set_round_limit(limit);
    coordinator_->OnReport(rank, report, now_);
    Collect();
  }

  // Lets time pass tick by tick; `beat` runs before each.
  template <typename F>
  void Pass(milliseconds duration, F beat) {
    for (milliseconds passed{0}; passed < duration; passed += kTick) {
      now_ += kTick;
      beat();
      coordinator_->OnTick(now_);
      Collect();
    }
  }
  void Pass(milliseconds duration) {
    Pass(duration, [] {});
  }

  void Collect() {
    Coordinator::Output output = coordinator_->Take();
    for (auto& [session, directive] : output.directives) {
      if (!directive.has_beat()) directives_[session].push_back(directive);
    }
    for (const SessionId session : output.ended) ended_.push_back(session);
    for (auto& [rank, metrics] : output.metrics) metrics_.emplace_back(rank, metrics.round());
    for (auto& notice : output.notices) notices_.push_back(notice);
    all_done_ += output.all_done;
  }

  std::string Message() const { return std::string(coordinator_->verdict().message()); }
  Failure Class() const { return FailureOf(coordinator_->verdict()); }

  Rank n_ = 0;
  SteadyTime now_{};
  std::optional<Coordinator> coordinator_;
  std::map<SessionId, std::vector<control::Directive>> directives_;
  std::vector<SessionId> ended_;
  std::vector<std::pair<Rank, Round>> metrics_;
  std::vector<std::string> notices_;
  int all_done_ = 0;
};

TEST_F(CoordinatorTest, HandsTheRosterToAllOnceTheLastIsThere) {
  Begin(3);
  Register(0, RegistrationOf(0, 3));
  Register(2, RegistrationOf(2, 3));
  EXPECT_THAT(directives_, IsEmpty());
  Register(1, RegistrationOf(1, 3));
  for (SessionId session = 0; session < 3; ++session) {
    ASSERT_EQ(directives_[session].size(), 1u);
    const control::Roster& roster = directives_[session][0].roster();
    EXPECT_EQ(roster.run_id(), "run-1");
    EXPECT_EQ(roster.round_limit(), 100);
    EXPECT_THAT(roster.addresses(), ElementsAre("10.0.0.1:7000", "10.0.0.2:7000", "10.0.0.3:7000"));
  }
}

TEST_F(CoordinatorTest, RefusesWhatDoesNotFitWithBothValues) {
  const struct {
    std::function<void(control::Registration&)> spoil;
    std::vector<std::string> message;
  } cases[] = {
      {[](auto& r) { r.set_protocol_version(9); },
       {"version is 9 there and " + std::to_string(kControlProtocolVersion) + " on rank 0"}},
      {[](auto& r) { r.set_world_size(4); }, {"number of nodes is 4 there and 3 on rank 0"}},
      {[](auto& r) { r.set_rank(3); }, {"rank 3 does not exist among 3 nodes"}},
      {[](auto& r) { r.set_rank(-1); }, {"rank -1 does not exist"}},
      {[](auto& r) { r.set_address("nonsense"); }, {"nonsense", "HOST:PORT"}},
      {[](auto& r) { r.set_address("host:0"); }, {"host:0", "--advertise"}},
      {[](auto& r) { r.set_address("0.0.0.0:7000"); }, {"0.0.0.0:7000", "--advertise"}},
      {[](auto& r) {
         r.set_address("127.0.0.1:7000");
         r.set_seen_from("10.0.0.2");
       },
       {"127.0.0.1:7000", "comes from 10.0.0.2", "--bind", "--advertise"}},
      {[](auto& r) { r.mutable_agreements(0)->set_value("torus:2x4"); },
       {"topology is \"torus:2x4\" there and \"ring\" on rank 0", "same configuration"}},
      {[](auto& r) { r.mutable_agreements()->RemoveLast(); },
       {"lr is not given there and \"0.1\""}},
      {[](auto& r) { r.add_agreements()->set_name("momentum"); },
       {"momentum is \"\" there and not given on rank 0"}},
  };
  for (const auto& c : cases) {
    Begin(3);
    directives_.clear();
    ended_.clear();
    control::Registration registration = RegistrationOf(1, 3);
    c.spoil(registration);
    Register(7, registration);
    ASSERT_EQ(directives_[7].size(), 1u) << c.message[0];
    const control::Abort& abort = directives_[7][0].abort();
    EXPECT_EQ(abort.failure(), static_cast<int>(Failure::kRendezvous));
    for (const std::string& part : c.message) EXPECT_THAT(abort.message(), HasSubstr(part));
    EXPECT_THAT(ended_, ElementsAre(7));
    EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kGathering);
  }
}

// Who has the run's token is of this run: without the rank that it comes for nothing begins.
TEST_F(CoordinatorTest, AProvenMisfitEndsTheGatheringForAll) {
  Begin(4, milliseconds(4000), true);
  Register(1, RegistrationOf(1, 4));
  control::Registration misfit = RegistrationOf(2, 4);
  misfit.mutable_agreements(0)->set_value("star");
  Register(9, misfit);
  EXPECT_TRUE(coordinator_->AwaitsLatecomers()) << "rank 3 has yet to hear it";
  EXPECT_EQ(Class(), Failure::kRendezvous);
  EXPECT_EQ(Message(),
            "rank 0 refuses rank 2 at 10.0.0.3:7000: topology is \"star\" there and \"ring\" on "
            "rank 0; start every rank with the same configuration and the same files");
  Register(3, RegistrationOf(3, 4));  // comes later
  for (const SessionId session : {1, 9, 3}) {
    ASSERT_EQ(directives_[session].size(), 1u) << session;
    EXPECT_EQ(directives_[session][0].abort().message(), Message());
    EXPECT_EQ(directives_[session][0].abort().culprit(), 2);
  }
  EXPECT_THAT(ended_, ElementsAre(1, 9, 3));
  EXPECT_FALSE(coordinator_->AwaitsLatecomers());
}

TEST_F(CoordinatorTest, AMisfitWhoseRankNobodyWaitsForIsRefusedAlone) {
  Begin(3, milliseconds(4000), true);
  Register(1, RegistrationOf(1, 3));
  control::Registration surplus = RegistrationOf(3, 4), second = RegistrationOf(1, 3);
  second.set_nonce(77);
  second.mutable_agreements(0)->set_value("star");
  Register(8, surplus);
  Register(9, second);
  EXPECT_THAT(ended_, ElementsAre(8, 9));
  EXPECT_THAT(directives_[9][0].abort().message(), HasSubstr("topology is \"star\""));
  Register(0, RegistrationOf(0, 3));
  Register(2, RegistrationOf(2, 3));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
}

// Rank 0 knows no host of its own where it listens on every address; each of
// the others knows one.
TEST_F(CoordinatorTest, LeavesOutTheHostOfRankZerosMachine) {
  Begin(2);
  control::Registration zero = RegistrationOf(0, 2);
  zero.set_address(":7000");
  Register(0, zero);
  control::Registration beside = RegistrationOf(1, 2);
  beside.set_address("127.0.0.1:7001");
  beside.set_seen_from("127.0.0.1");
  Register(1, beside);
  ASSERT_EQ(directives_[1].size(), 1u);
  EXPECT_THAT(directives_[1][0].roster().addresses(), ElementsAre(":7000", "127.0.0.1:7001"))
      << directives_[1][0].abort().message();
}

TEST_F(CoordinatorTest, RefusesASecondProcessWithTheSameRank) {
  Begin(3);
  Register(1, RegistrationOf(1, 3));
  control::Registration other = RegistrationOf(1, 3);
  other.set_nonce(77);
  other.set_address("10.0.0.9:1");
  Register(2, other);
  ASSERT_EQ(directives_[2].size(), 1u);
  EXPECT_THAT(directives_[2][0].abort().message(),
              HasSubstr("rank 1 is already taken by the process at 10.0.0.2:7000"));
}

TEST_F(CoordinatorTest, TakesTheSameProcessAgainOnANewConnection) {
  Begin(2);
  Register(1, RegistrationOf(1, 2));
  Register(5, RegistrationOf(1, 2));
  EXPECT_THAT(ended_, ElementsAre(1));
  coordinator_->OnClosed(1, "", now_);  // the old connection's end says nothing
  Register(0, RegistrationOf(0, 2));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  EXPECT_EQ(directives_.count(1), 0u);
  EXPECT_TRUE(directives_[5][0].has_roster());
}

TEST_F(CoordinatorTest, AfterTheTimeoutNamesMissingRanksAndWhyOneWasRefused) {
  Begin(4);
  Register(0, RegistrationOf(0, 4));
  control::Registration misfit = RegistrationOf(2, 4);
  misfit.mutable_agreements(0)->set_value("star");
  Register(9, misfit);
  Register(1, RegistrationOf(1, 4));
  coordinator_->OnClosed(1, "", now_);  // came and went
  Pass(milliseconds(20000));
  EXPECT_EQ(Class(), Failure::kRendezvous);
  EXPECT_THAT(Message(), AllOf(HasSubstr("not all of 4 nodes came within 20.0 s"),
                               HasSubstr("ranks 1, 2, 3 are missing"),
                               HasSubstr("rank 2 was refused: topology is \"star\""),
                               HasSubstr("--rendezvous-timeout")));
  EXPECT_TRUE(directives_[0].back().has_abort());
  EXPECT_THAT(notices_, testing::Contains(HasSubstr("waiting for 3 of 4 nodes: ranks 1, 2, 3")));
}

// It may come again, so nothing ends with it.
TEST_F(CoordinatorTest, AMemberThatSaysWhyItLeavesWhileNodesGatherIsMissedWithItsWords) {
  Begin(3);
  Register(1, RegistrationOf(1, 3));
  Fail(1, 1, "terminated\n(SIGTERM)", Failure::kTerminated);
  coordinator_->OnClosed(1, "closed by the node", now_);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kGathering);
  Pass(milliseconds(10000));
  EXPECT_THAT(notices_, testing::Contains(HasSubstr(
                            "; rank 1 left: rank 1 at 10.0.0.2:7000: terminated\\x0a(SIGTERM)")));
  Register(5, RegistrationOf(1, 3));
  Register(0, RegistrationOf(0, 3));
  Register(2, RegistrationOf(2, 3));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

TEST_F(CoordinatorTest, ABrokenConnectionIsADeath) {
  BeginRunning(3);
  Beat(1, 12);
  Beat(2, 12, {1});
  coordinator_->OnClosed(1, "connection lost", now_);
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

TEST_F(CoordinatorTest, SilenceBeyondThePeerTimeoutIsAVerdict) {
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

TEST_F(CoordinatorTest, ASlowNodeIsNoticedOnceARound) {
  BeginRunning(3);
  const auto beat = [&] {
    Beat(0, 6, {1}, 5);
    Beat(1, 5);
    Beat(2, 6, {1}, 5);
  };
  Pass(milliseconds(20000), beat);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  EXPECT_THAT(notices_, ElementsAre(AllOf(HasSubstr("rank 1 is slow"), HasSubstr("round 5"),
                                          HasSubstr("ranks 0, 2 wait for it"))));
}

TEST_F(CoordinatorTest, ARoundBeyondTheStepTimeoutIsAVerdict) {
  BeginRunning(2);
  Pass(milliseconds(60100), [&] {
    Beat(0, 6, {1}, now_.time_since_epoch().count());
    Beat(1, 5);
  });
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), AllOf(HasSubstr("rank 1 is slow: alive, but for 60.0 s in round 5"),
                               HasSubstr("--step-timeout=60s")));
}

// Rank 0 evaluates for longer than every time-out; the others wait for it.
TEST_F(CoordinatorTest, AnEvaluationThatMovesIsNeitherStuckNorTooSlow) {
  BeginRunning(3);
  int64_t batches = 0;
  const auto beat = [&](bool moves) {
    Beat(0, 6, {}, batches += moves);
    Beat(1, 6, {0}, 5);
    Beat(2, 6, {1}, 5);
  };
  Pass(milliseconds(200000), [&] { beat(true); });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("rank 0 is slow: alive")));
  Pass(milliseconds(60100), [&] { beat(false); });
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), AllOf(HasSubstr("rank 0 is slow"), HasSubstr("moved for 60.0 s"),
                               HasSubstr("--step-timeout=60s")));
}

// After the last round: the others are done.
TEST_F(CoordinatorTest, AFinalEvaluationMayTakeLongerThanTheStepTimeout) {
  BeginRunning(2);
  Done(1, 100);
  int64_t batches = 0;
  Pass(milliseconds(200000), [&] { Beat(0, 100, {}, ++batches), Beat(1, 100); });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  Done(0, 100);
  coordinator_->Finish();
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kFinished);
}

TEST_F(CoordinatorTest, WhenAllWaitAndNothingMovesTheRunIsStuck) {
  BeginRunning(2);
  int64_t progress = 0;
  Pass(milliseconds(10000), [&] {
    Beat(0, 3, {1}, ++progress);  // bytes still arrive: slow, not stuck
    Beat(1, 3, {0}, 7);
  });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  Pass(milliseconds(6100), [&] {
    Beat(0, 3, {1}, progress);
    Beat(1, 3, {0}, 7);
  });
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), AllOf(HasSubstr("stuck"), HasSubstr("rank 0 waits for 1 in round 3"),
                               HasSubstr("rank 1 waits for 0 in round 3")));
}

// Who connects has a time-out and a reason of its own.
TEST_F(CoordinatorTest, ARunInWhichANodeIsConnectingIsNotStuck) {
  BeginRunning(3);
  Pass(milliseconds(30000), [&] {
    Beat(0, 0);  // connecting to rank 2
    Beat(1, 0, {0}, 7);
    Beat(2, 0, {0}, 7);
  });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  // It gives up; its heartbeat may say so before its report does.
  const auto wait = [&] {
    Beat(0, 0, {2});
    Beat(1, 0, {0}, 7);
    Beat(2, 0, {0}, 7);
  };
  Pass(kTick, wait);
  Fail(0, 2, "rank 0 lost rank 2 in round 0: rank 2 (10.0.0.3:7000) could not be reached",
       Failure::kPeerLost);
  Pass(milliseconds(1000), wait);
  EXPECT_THAT(Message(), HasSubstr("rank 2 (10.0.0.3:7000) could not be reached"));
}

// Two that no longer hear each other take --peer-timeout and a few heartbeats to notice,
// and then name each other: which says more.
TEST_F(CoordinatorTest, NeighboursThatLoseEachOtherSpeakBeforeTheRunIsCalledStuck) {
  BeginRunning(2);
  const auto wait = [&] {
    Beat(0, 3, {1}, 7);
    Beat(1, 3, {0}, 7);
  };
  Pass(milliseconds(4000) * 4 / 3, wait);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  Fail(0, 1, "rank 0 lost rank 1 in round 3: it is silent", Failure::kPeerLost);
  Pass(milliseconds(1100), wait);
  EXPECT_THAT(Message(), HasSubstr("rank 0 lost rank 1 in round 3: it is silent"));
}

TEST_F(CoordinatorTest, ANodesOwnFailureIsTheVerdictAtOnce) {
  BeginRunning(3);
  Fail(1, 1, "rank 1: the loss is NaN in round 5", Failure::kDiverged);
  EXPECT_EQ(Class(), Failure::kDiverged);
  EXPECT_EQ(Message(), "rank 1: the loss is NaN in round 5");
  coordinator_->OnClosed(2, "", now_);  // what follows changes nothing
  EXPECT_EQ(Class(), Failure::kDiverged);
}

TEST_F(CoordinatorTest, AnAccusedNodeMaySpeakFirst) {
  BeginRunning(3);
  Fail(0, 1, "rank 0: connection to peer 1 broke", Failure::kPeerLost);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  Fail(1, 1, "rank 1: the disk is full", Failure::kOutput);
  EXPECT_EQ(Class(), Failure::kOutput);
}

TEST_F(CoordinatorTest, AnAccusationStandsWhenTheAccusedSaysNothing) {
  BeginRunning(3);
  Beat(1, 40);
  Fail(0, 1, "rank 0: peer 1 silent since 4.0 s in round 41", Failure::kPeerLost);
  Pass(milliseconds(1000), [&] { Beat(1, 40); });
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), AllOf(HasSubstr("peer 1 silent since 4.0 s in round 41"),
                               HasSubstr("rank 0 heard from rank 1 0.0 s ago in round 40")));
}

TEST_F(CoordinatorTest, AnAccusedNodeThatDiesIsReportedDead) {
  BeginRunning(3);
  Fail(0, 1, "rank 0: connection to peer 1 broke", Failure::kPeerLost);
  coordinator_->OnClosed(1, "connection lost", now_);
  EXPECT_THAT(Message(), HasSubstr("rank 1 at 10.0.0.2:7000 died"));
}

// A busy host: what rank 1 said last and the end of its connection are read late.
TEST_F(CoordinatorTest, TheEndOfAnAccusedNodesConnectionIsWaitedForUnlessItSpeaks) {
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
  coordinator_->OnClosed(1, "connection lost", now_);
  EXPECT_THAT(Message(), HasSubstr("rank 1 at 10.0.0.2:7000 died: its connection to rank 0 broke "
                                   "in round 40"));
}

TEST_F(CoordinatorTest, AnAccusedNodeThatIsNotHeardAtAllHasHalfThePeerTimeout) {
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

TEST_F(CoordinatorTest, WhileRankZeroItselfStoodStillNobodyWasHeard) {
  BeginRunning(3);
  Beat(1, 40);
  Fail(2, 1, "rank 2 lost rank 1 in round 41: connection reset", Failure::kPeerLost);
  now_ += milliseconds(3000);
  coordinator_->OnTick(now_);
  ASSERT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  coordinator_->OnClosed(1, "connection lost", now_);
  EXPECT_THAT(Message(), HasSubstr("rank 1 at 10.0.0.2:7000 died"));
}

TEST_F(CoordinatorTest, AnAbsurdFailureReportEndsWithANonZeroCode) {
  BeginRunning(2);
  Fail(1, 99, "rubbish", Failure::kNone);
  EXPECT_EQ(Class(), Failure::kOther);
  EXPECT_EQ(directives_[0].back().abort().culprit(), 1);
}

// An exit code has eight bits: 256 would end a failed run with 0, and 300 with 44.
TEST_F(CoordinatorTest, AFailureWithAnUndocumentedNumberIsTheOtherFailure) {
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

TEST_F(CoordinatorTest, WhatNodesSayIsFitForATerminal) {
  Begin(3);
  control::Registration hostile = RegistrationOf(1, 3);
  hostile.set_address("\033]0;title\007\n[0] all is well");
  Register(7, hostile);
  for (const std::string& text : {notices_.at(0), directives_[7][0].abort().message()}) {
    EXPECT_THAT(text, HasSubstr("\\x1b]0;title\\x07\\x0a[0] all is well"));
    EXPECT_THAT(text, Not(testing::ContainsRegex("[[:cntrl:]]")));
  }

  BeginRunning(2);
  Fail(1, 1, "rank 1: \033[2J" + std::string(100000, 'x'), Failure::kOther);
  EXPECT_THAT(Message(), testing::StartsWith("rank 1: \\x1b[2Jxxx"));
  EXPECT_LT(Message().size(), 10000u);

  BeginRunning(2);
  control::Report report;
  report.mutable_heartbeat()->set_state("\033[31m");
  coordinator_->OnReport(1, report, now_);
  coordinator_->OnClosed(1, "", now_);
  EXPECT_THAT(Message(), HasSubstr("in round 0, \\x1b[31m"));
}

TEST_F(CoordinatorTest, AFloodOfRefusalsIsCountedNotListed) {
  BeginRunning(2);
  for (SessionId session = 10; session < 1010; ++session) Register(session, RegistrationOf(1, 2));
  EXPECT_LE(notices_.size(), 10u);
  const size_t listed = notices_.size();
  EXPECT_EQ(directives_.size(), 1000u) << "each of them hears why";
  Pass(milliseconds(20000), [&] { Beat(0, 1), Beat(1, 1); });
  ASSERT_EQ(notices_.size(), listed + 1);
  EXPECT_THAT(notices_.back(), HasSubstr(std::to_string(1000 - listed) + " more"));
}

TEST_F(CoordinatorTest, AConnectionThatRegistersTwiceLeavesNoGhost) {
  Begin(3);
  Register(1, RegistrationOf(1, 3));
  Register(1, RegistrationOf(2, 3));
  ASSERT_EQ(directives_[1].size(), 1u);
  EXPECT_THAT(directives_[1][0].abort().message(),
              HasSubstr("its connection has registered rank 1 already"));
  EXPECT_THAT(ended_, ElementsAre(1));
  coordinator_->OnClosed(1, "", now_);
  // Both ranks are as free as before.
  Register(0, RegistrationOf(0, 3));
  Register(5, RegistrationOf(1, 3));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kGathering);
  Register(6, RegistrationOf(2, 3));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

TEST_F(CoordinatorTest, AMemberThatRegistersAgainBreaksTheProtocol) {
  BeginRunning(2);
  Register(1, RegistrationOf(1, 2));
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(),
              AllOf(HasSubstr("rank 1 at 10.0.0.2:7000"), HasSubstr("registered twice")));
}

TEST_F(CoordinatorTest, AnUnknownReportIsAVerdictAgainstItsSender) {
  BeginRunning(2);
  coordinator_->OnReport(1, control::Report(), now_);
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), HasSubstr("rank 1 sent a report"));
}

TEST_F(CoordinatorTest, StrangersAreIgnored) {
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

TEST_F(CoordinatorTest, FinishesWhenAllAreDoneBelowTheCurrentLimitAndTheResultsAreThere) {
  BeginRunning(2);
  Done(0, 100);
  coordinator_->ExtendRoundLimit(50, true);  // never inwards
  coordinator_->ExtendRoundLimit(200, true);
  Collect();
  EXPECT_EQ(directives_[1].back().round_limit().limit(), 200);
  Done(1, 200);
  EXPECT_EQ(all_done_, 0);
  Done(0, 200);
  EXPECT_EQ(all_done_, 1);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << "rank 0 writes its results";
  EXPECT_THAT(ended_, IsEmpty());
  coordinator_->Finish();
  Collect();
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kFinished);
  EXPECT_TRUE(directives_[0].back().has_finish());
  EXPECT_TRUE(directives_[1].back().has_finish());
  EXPECT_THAT(ended_, ElementsAre(0, 1));
  coordinator_->OnClosed(1, "", now_);
  EXPECT_TRUE(coordinator_->verdict().ok());
}

TEST_F(CoordinatorTest, ANodeThatIsDoneElsewhereEndsTheRun) {
  for (const Round elsewhere : {int64_t{-1}, int64_t{9}, int64_t{101}}) {
    BeginRunning(2);
    Done(1, elsewhere);
    EXPECT_EQ(Class(), Failure::kOther);
    EXPECT_THAT(Message(), HasSubstr(absl::StrCat("rank 1 says that it is done with ", elsewhere,
                                                  " rounds, where the run has 100")));
  }
}

TEST_F(CoordinatorTest, ResultsThatCannotBeWrittenAreTheVerdictForAll) {
  BeginRunning(2);
  Done(0, 100);
  Done(1, 100);
  Fail(0, 0, "rank 0: cannot write summary.json", Failure::kOutput);
  coordinator_->Finish();  // too late
  Collect();
  EXPECT_EQ(Class(), Failure::kOutput);
  for (const SessionId session : {0, 1}) EXPECT_TRUE(directives_[session].back().has_abort());
}

TEST_F(CoordinatorTest, WritingTheResultsHasTheStepTimeout) {
  BeginRunning(2);
  Done(1, 100);
  Pass(milliseconds(70000),
       [&] { Beat(0, 100, {}, now_.time_since_epoch().count()), Beat(1, 100); });
  Done(0, 100);
  const auto beat = [&] { Beat(0, 100, {}, 7), Beat(1, 100); };
  Pass(milliseconds(59000), beat);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  Pass(milliseconds(2000), beat);
  EXPECT_THAT(Message(), AllOf(HasSubstr("rank 0 is slow"), HasSubstr("--step-timeout=60s")));
}

TEST_F(CoordinatorTest, RankZerosEndWhileNodesGatherIsToldToAllWhoComeAndWillCome) {
  Begin(3);
  Register(1, RegistrationOf(1, 3));
  coordinator_->End(
      WithFailure(absl::CancelledError("terminated (SIGTERM)"), Failure::kTerminated));
  Collect();
  Register(2, RegistrationOf(2, 3));
  for (const SessionId session : {1, 2}) {
    ASSERT_EQ(directives_[session].size(), 1u) << session;
    EXPECT_EQ(directives_[session][0].abort().message(), "rank 0: terminated (SIGTERM)");
    EXPECT_EQ(directives_[session][0].abort().failure(), static_cast<int>(Failure::kTerminated));
  }
  EXPECT_THAT(ended_, ElementsAre(1, 2));
  EXPECT_THAT(notices_, IsEmpty()) << "nobody was refused";
}

TEST_F(CoordinatorTest, ANodeThatDiesBetweenDoneAndFinishIsLost) {
  BeginRunning(2);
  Done(1, 100);
  coordinator_->OnClosed(1, "", now_);
  EXPECT_EQ(Class(), Failure::kPeerLost);
}

TEST_F(CoordinatorTest, PassesMetricsOn) {
  BeginRunning(2);
  control::Report report;
  report.mutable_metrics()->set_round(17);
  coordinator_->OnReport(1, report, now_);
  Collect();
  EXPECT_THAT(metrics_, ElementsAre(std::pair<Rank, Round>(1, 17)));
  // They may come before the heartbeat of that round.
  coordinator_->OnClosed(1, "", now_);
  EXPECT_THAT(Message(), HasSubstr("in round 17"));
}

TEST_F(CoordinatorTest, AShortStandstillOfRankZeroIsNotOthersSilence) {
  BeginRunning(2);
  Pass(milliseconds(1000), [&] { Beat(0, 1); });
  now_ += milliseconds(3900);
  coordinator_->OnTick(now_);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
}

TEST_F(CoordinatorTest, ALongStandstillOfRankZeroIsItsOwnFault) {
  BeginRunning(3);
  now_ += milliseconds(5000);
  coordinator_->OnClosed(2, "closed by the node", now_);
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), HasSubstr("rank 0 itself stood still for 5.0 s"));
}

}  // namespace
}  // namespace grapevine
