// A coordinator that takes a run over, and one whose node goes: see succession.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "node/control/control_line.h"
#include "node/control/coordinator.h"
#include "tests/node/control/coordinator_run.h"
#include "tests/node/control/packed_lists.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Rank 1's, of a run of five that rank 0 has begun.
class CoordinatorSuccession : public CoordinatorRun {
 protected:
  void SetUp() override {
    n_ = 5;
    coordinator_.emplace(CoordinatorOptions{.own = RegistrationOf(1, n_),
                                            .run_id = "run-1",
                                            .resilient = true,
                                            .min_nodes = min_nodes_,
                                            .role_moves = true,
                                            .succession = SuccessionIn(n_),
                                            .peer_timeout = milliseconds(4000)},
                         now_);
  }

  static control::Registration Comes(Rank rank) { return ComesToSuccessor(rank, 5); }
  static control::Registration KnowsView(control::Registration registration, uint32_t epoch,
                                         std::vector<Member> members, uint32_t ballot) {
    control::View& view = *registration.mutable_standing()->mutable_view();
    view.set_epoch(epoch);
    view.set_from(10 * epoch);
    view.set_ballot(ballot);
    SetMembers(members, &view);
    registration.mutable_standing()->set_ballot(ballot);
    return registration;
  }
  static control::Registration IsDone(control::Registration registration) {
    registration.mutable_standing()->mutable_limit()->set_final(true);
    registration.mutable_standing()->set_done(100);
    return registration;
  }
  void Come(const control::Registration& registration) {
    Register(registration.rank(), registration);
  }
  bool runs() const { return coordinator_->phase() == Coordinator::Phase::kRunning; }
};

TEST_F(CoordinatorSuccession, GathersThoseWhoAreLeftAndGoesOnWithoutTheOneBefore) {
  for (const Rank rank : {1, 2, 3}) Come(Comes(rank));
  EXPECT_FALSE(runs());
  EXPECT_THAT(coordinator_->absent(), ElementsAre(::testing::Pair(4, "10.0.0.5:7000")));
  Come(Comes(4));
  ASSERT_TRUE(runs());
  EXPECT_THAT(lost_, ElementsAre(0));
  EXPECT_THAT(notices_, ElementsAre("rank 1 has the role of rank 0 now; 4 of 5 nodes go on"));
  for (const Rank rank : {1, 2, 3, 4}) {
    ASSERT_EQ(directives_[rank].size(), 2u) << rank;
    EXPECT_EQ(directives_[rank][0].round_limit().limit(), 100);
    EXPECT_EQ(Last(rank).prepare().ballot(), 1u);
    Promise(rank, 1, 20 + rank);
  }
  const control::View& view = Last(3).view();
  EXPECT_EQ(view.epoch(), 1u);
  EXPECT_EQ(view.from(), 25);
  EXPECT_EQ(view.lead(), 1);
  EXPECT_THAT(MembersIn(view), ElementsAre(1, 2, 3, 4));
}

TEST_F(CoordinatorSuccession, WaitsForNobodyWhoseProcessIsGone) {
  for (const Rank rank : {1, 2, 3}) Come(Comes(rank));
  coordinator_->OnGone(4, "nobody listens there", now_);
  Collect();
  EXPECT_TRUE(runs());
  EXPECT_THAT(lost_, ElementsAre(0, 4));
}

TEST_F(CoordinatorSuccession, WhoDoesNotComeInTimeIsLostAndToldSo) {
  for (const Rank rank : {1, 2, 3}) Come(Comes(rank));
  const auto beat = [this] {
    for (const Rank rank : {1, 2, 3}) Beat(rank, 20);
  };
  Pass(milliseconds(5900), beat);
  EXPECT_FALSE(runs());
  Pass(milliseconds(200), beat);
  EXPECT_TRUE(runs());
  EXPECT_THAT(lost_, ElementsAre(0, 4));
  Come(Comes(4));
  EXPECT_THAT(Last(4).abort().message(),
              HasSubstr("the others go on without it: rank 4 did not come to rank 1"));
}

TEST_F(CoordinatorSuccession, FewerThanHalfOfThemGoOnOnlyIfTheUserSaysSo) {
  for (const Rank rank : {1, 2}) Come(Comes(rank));
  for (const Rank rank : {3, 4}) coordinator_->OnGone(rank, "nobody listens there", now_);
  Collect();
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_EQ(Message(),
            "rank 1 has the role of rank 0 now; 2 of 5 nodes are left, fewer than half of the 5 "
            "that were in the run within --peer-timeout=4s; with --min-nodes=2 so few would go on");
}

// Three of the five nodes were lost a moment ago, one after the other.
TEST_F(CoordinatorSuccession, WhatItsNodeHasHeardOfViewsCounts) {
  SuccessionOptions succession = SuccessionIn(n_);
  succession.lately = MembersLately(5);
  succession.lately.OnView(3, now_.time_since_epoch());
  now_ += milliseconds(1000);
  coordinator_.emplace(CoordinatorOptions{.own = RegistrationOf(1, n_),
                                          .run_id = "run-1",
                                          .resilient = true,
                                          .role_moves = true,
                                          .succession = succession,
                                          .peer_timeout = milliseconds(4000)},
                       now_);
  for (const Rank rank : {1, 2}) Come(KnowsView(Comes(rank), 1, {0, 1, 2}, 1));
  EXPECT_THAT(Message(), HasSubstr("2 of 5 nodes are left, fewer than half of the 5"));
}

// Rank 0 has agreed on a view with all, and died before it could tell the last of it.
TEST_F(CoordinatorSuccession, ViewsThatSomeHaveNotHeardOfAreTold) {
  Come(Comes(1));
  Come(KnowsView(Comes(2), 1, {0, 1, 2, 3}, 3));
  control::Registration lags = Comes(3);
  lags.mutable_standing()->set_ballot(3);
  Come(lags);
  ASSERT_TRUE(runs()) << "rank 4 is left out by the view";
  EXPECT_EQ(directives_[3][0].view().epoch(), 1u);
  EXPECT_EQ(directives_[1][0].view().epoch(), 1u);
  EXPECT_TRUE(directives_[2][0].has_round_limit());
  EXPECT_EQ(Last(2).prepare().ballot(), 4u) << "above all that were asked before";
  for (const Rank rank : {1, 2, 3}) Promise(rank, 4, 30);
  EXPECT_EQ(Last(3).view().epoch(), 2u);
  EXPECT_THAT(MembersIn(Last(3).view()), ElementsAre(1, 2, 3));
}

// Of one that has come into the run at another address, which only some have heard of.
TEST_F(CoordinatorSuccession, ANewcomerIsAwaitedWhereItListens) {
  Come(Comes(1));
  coordinator_->OnGone(4, "nobody listens there", now_);  // at the address of the one before
  control::Registration knows = KnowsView(Comes(2), 2, {0, 1, 2, 3, 4}, 2);
  control::Newcomer& newcomer = *knows.mutable_standing()->mutable_view()->add_newcomers();
  newcomer.set_rank(4);
  newcomer.set_address("10.0.1.5:7000");
  Come(knows);
  Come(Comes(3));
  EXPECT_FALSE(runs());
  EXPECT_THAT(coordinator_->absent(), ElementsAre(::testing::Pair(4, "10.0.1.5:7000")));
  control::Registration absurd = knows;
  absurd.set_rank(4);
  absurd.mutable_standing()->mutable_view()->mutable_newcomers(0)->set_rank(9);
  Come(absurd);
  EXPECT_THAT(Last(4).abort().message(), HasSubstr("where it says that it stands cannot be"));
  absurd.mutable_standing()->mutable_view()->mutable_newcomers(0)->set_rank(4);
  Come(absurd);
  EXPECT_TRUE(runs());
}

// It was cut off when the others left it out, and was fast to take the role.
TEST_F(CoordinatorSuccession, WhoIsLeftOutItselfGoesWithoutAWordToTheOthers) {
  Come(Comes(1));
  for (const Rank rank : {2, 3, 4}) Come(KnowsView(Comes(rank), 1, {0, 2, 3, 4}, 1));
  EXPECT_TRUE(coordinator_->resigned());
  EXPECT_THAT(Last(1).abort().message(), HasSubstr("is left out from round 10 on"));
  for (const Rank rank : {2, 3, 4}) EXPECT_THAT(directives_[rank], IsEmpty());
  Come(Comes(2));
  EXPECT_THAT(directives_[2], IsEmpty());
}

// Told to end, say: nobody else is to end with it.
TEST_F(CoordinatorSuccession, WhoEndsBeforeItHasTakenOverLeavesThatToAnother) {
  for (const Rank rank : {1, 2}) Come(Comes(rank));
  Fail(2, 2, "terminated", Failure::kTerminated);
  EXPECT_FALSE(coordinator_->resigned());
  Fail(1, 1, "terminated", Failure::kTerminated);
  EXPECT_TRUE(coordinator_->resigned());
  EXPECT_EQ(Class(), Failure::kTerminated);
  EXPECT_TRUE(directives_[2].empty());
}

TEST_F(CoordinatorSuccession, WhoIsNotThereItselfTakesNothingOver) {
  for (const Rank rank : {2, 3}) Come(Comes(rank));
  Pass(milliseconds(9000), [this] {
    for (const Rank rank : {2, 3}) Beat(rank, 20);
  });
  EXPECT_TRUE(coordinator_->resigned());
  EXPECT_TRUE(directives_[2].empty() && directives_[3].empty());
}

TEST_F(CoordinatorSuccession, WhoWasLeftOutHearsSo) {
  Come(KnowsView(Comes(1), 1, {0, 1, 2}, 1));
  Come(Comes(4));
  Come(KnowsView(Comes(2), 1, {0, 1, 2}, 1));
  ASSERT_TRUE(runs());
  EXPECT_THAT(Last(4).abort().message(), HasSubstr("the others go on without it: rank 4 was out"));
  EXPECT_THAT(lost_, ElementsAre(0, 3, 4));
}

TEST_F(CoordinatorSuccession, OnceAllAreDoneTheResultsAreWritten) {
  for (const Rank rank : {1, 2, 3, 4}) Come(IsDone(Comes(rank)));
  EXPECT_EQ(all_done_, 1);
  coordinator_->Finish();
  Collect();
  for (const Rank rank : {1, 2, 3, 4}) EXPECT_TRUE(Last(rank).has_finish());
}

// What rank 0 has heard of a host that cannot reach two others is repeated to whoever has its role.
TEST_F(CoordinatorSuccession, JudgesByAllThatIsSaidOfOthers) {
  for (const Rank rank : {1, 2, 3}) Come(Comes(rank));
  SayLost(2, 0);
  SayLost(3, 2);
  SayLost(3, 4);
  SayLost(2, 3);
  Come(Comes(4));
  SayLost(4, 3);
  ASSERT_TRUE(runs());
  Pass(milliseconds(2000), [this] {
    for (const Rank rank : {1, 2, 4}) Beat(rank, 20);
    if (lost_.size() == 1) Beat(3, 20);
  });
  EXPECT_THAT(lost_, ElementsAre(0, 3));
}

// The end was settled, and some are still on the way there.
TEST_F(CoordinatorSuccession, WhatOneHasHeardOfTheEndIsToldToAll) {
  Come(IsDone(Comes(2)));
  for (const Rank rank : {1, 3, 4}) Come(Comes(rank));
  EXPECT_TRUE(directives_[3][0].round_limit().final());
  for (const Rank rank : {1, 3, 4}) Promise(rank, 1, 90);
  EXPECT_EQ(Last(3).view().from(), 100) << "who is done is past all rounds";
  EXPECT_FALSE(Last(3).view().has_again());
}

TEST_F(CoordinatorSuccession, TheLastModelIsPutTogetherAgainIfTheEndWasNotSettled) {
  for (const Rank rank : {1, 2, 3, 4}) Come(Comes(rank));
  for (const Rank rank : {1, 2, 3, 4}) Promise(rank, 1, 99);
  EXPECT_EQ(Last(2).view().again(), 100);
}

// Heard by the coordinator before, if by any.
TEST_F(CoordinatorSuccession, WhatIsSaidWhileOthersAreAwaitedCounts) {
  for (const Rank rank : {1, 2, 3}) Come(Comes(rank));
  Fail(2, 3, "rank 2 lost rank 3 in round 20: cut", Failure::kPeerLost);
  Come(Comes(4));
  Pass(milliseconds(2500), [this] {
    for (const Rank rank : {1, 2, 3, 4}) Beat(rank, 20);
  });
  EXPECT_THAT(lost_, ElementsAre(0, 3));
}

TEST_F(CoordinatorSuccession, WhoComesToItsEndWhileOthersAreAwaitedIsDone) {
  for (const Rank rank : {1, 2, 3}) Come(Comes(rank));
  for (const Rank rank : {1, 2, 3}) Done(rank, 100);
  EXPECT_FALSE(runs());
  Come(IsDone(Comes(4)));
  EXPECT_EQ(all_done_, 1);
}

TEST_F(CoordinatorSuccession, WhatDoesNotBelongIsRefused) {
  Come(RegistrationOf(2, 5));
  EXPECT_THAT(Last(2).abort().message(), HasSubstr("it was not in the run that goes on here"));
  control::Registration other = Comes(2);
  other.set_run_id("run-2");
  Register(20, other);
  EXPECT_THAT(Last(20).abort().message(), HasSubstr("it was not in the run"));
  Come(Comes(0));
  EXPECT_THAT(Last(0).abort().message(), HasSubstr("the others have lost it"));
  control::Registration absurd = KnowsView(Comes(3), 1, {3, 9}, 1);
  Come(absurd);
  EXPECT_THAT(Last(3).abort().message(), HasSubstr("where it says that it stands cannot be"));
  EXPECT_FALSE(runs());
}

class CoordinatorResignation : public CoordinatorRun {
 protected:
  CoordinatorResignation() { resilient_ = role_moves_ = true; }
};

TEST_F(CoordinatorResignation, WhatBefallsItsOwnNodeIsToldToNobodyElse) {
  BeginRunning(3);
  Fail(0, 0, "terminated", Failure::kTerminated);
  EXPECT_TRUE(coordinator_->resigned());
  EXPECT_THAT(Last(0).abort().message(), HasSubstr("terminated"));
  for (const Rank rank : {1, 2}) EXPECT_THAT(directives_[rank], IsEmpty());
  EXPECT_TRUE(Last(0).abort().others_go_on());
  EXPECT_FALSE(coordinator_->AwaitsLatecomers());
}

TEST_F(CoordinatorResignation, WithTooFewLeftTheRunEnds) {
  min_nodes_ = 3;
  BeginRunning(3);
  Fail(0, 0, "terminated", Failure::kTerminated);
  EXPECT_FALSE(coordinator_->resigned());
  for (const Rank rank : {0, 1, 2}) {
    EXPECT_THAT(Last(rank).abort().message(), HasSubstr("fewer than --min-nodes=3"));
    EXPECT_FALSE(Last(rank).abort().others_go_on());
  }
}

TEST_F(CoordinatorResignation, TheLastOneLeavesNobodyToGoOn) {
  BeginRunning(2);
  LoseProcess(1);
  Collect();
  Fail(0, 0, "terminated", Failure::kTerminated);
  EXPECT_TRUE(coordinator_->resigned());
  EXPECT_FALSE(Last(0).abort().others_go_on());
}

TEST_F(CoordinatorResignation, WhatWouldBefallTheOthersTooEndsTheRun) {
  BeginRunning(3);
  Fail(0, 0, "the disk is full", Failure::kOutput);
  EXPECT_FALSE(coordinator_->resigned());
  for (const Rank rank : {0, 1, 2}) EXPECT_TRUE(Last(rank).has_abort());
}

// Its end of a line whose coordinator is lost.
class OrphanedLine : public ::testing::Test {
 protected:
  void SetUp() override {
    control::Directive roster;
    roster.mutable_roster()->set_run_id("run-1");
    roster.mutable_roster()->set_round_limit(10);
    SetAddresses({"node0:1", "node1:1", "node2:1"}, roster.mutable_roster());
    roster.set_number(1);
    Connect();
    line_.OnDirective(roster, now_);
  }
  control::Registration Connect() {
    control::Registration registration;
    line_.OnConnecting(now_, &registration);
    return registration;
  }
  void LoseCoordinator() {
    line_.OnClosed("connection reset", now_);
    line_.OnGone("nobody listens there any more");
  }
  static control::Report Metrics(Round round) {
    control::Report report;
    report.mutable_metrics()->set_round(round);
    return report;
  }

  SteadyTime now_{};
  ControlLine line_{{.coordinator = "node0:1",
                     .peer_timeout = milliseconds(4000),
                     .world_size = 3,
                     .rounds = 10,
                     .changes_views = true,
                     .role_moves = true,
                     .rank = 2},
                    now_};
};

TEST_F(OrphanedLine, WaitsForAnotherCoordinator) {
  LoseCoordinator();
  ASSERT_TRUE(line_.orphaned().has_value());
  EXPECT_THAT(std::string(line_.orphaned()->message()),
              HasSubstr("rank 0 (the coordinator at node0:1) died"));
  EXPECT_TRUE(line_.gone());
  EXPECT_FALSE(line_.verdict().has_value());
  EXPECT_FALSE(line_.reconnect_at().has_value());
  line_.Adopt(1, "node1:1", now_);
  EXPECT_FALSE(line_.gone());
  EXPECT_EQ(line_.reconnect_at(), now_);
  EXPECT_EQ(line_.coordinator(), "node1:1");
  LoseCoordinator();  // that of the coordinator before, which is no news
  EXPECT_FALSE(line_.orphaned().has_value());
  Connect();
  LoseCoordinator();
  EXPECT_THAT(std::string(line_.orphaned()->message()),
              HasSubstr("rank 1 (the coordinator at node1:1) died"));
}

TEST_F(OrphanedLine, SaysWhereItStandsAndWhatEveryCoordinatorIsToHear) {
  control::Directive directive;
  directive.mutable_prepare()->set_ballot(1);
  directive.set_number(2);
  line_.OnDirective(directive, now_);
  control::Report accusation;
  accusation.mutable_failure()->set_culprit(1);
  line_.Add(accusation);
  line_.Add(Metrics(3));
  directive.mutable_beat();
  directive.set_number(0);
  directive.set_received(2);
  line_.OnDirective(directive, now_);  // rank 0 has heard both
  line_.Add(Metrics(4));
  control::Report promise;
  promise.mutable_promise()->set_ballot(1);
  line_.Add(promise);
  LoseCoordinator();
  line_.Adopt(1, "node1:1", now_);
  const control::Registration registration = Connect();
  EXPECT_EQ(registration.standing().ballot(), 1u);
  EXPECT_EQ(registration.standing().limit().limit(), 10);
  EXPECT_FALSE(registration.standing().has_view());
  ASSERT_EQ(line_.unacknowledged().size(), 2u);
  EXPECT_EQ(line_.unacknowledged()[0].failure().culprit(), 1);
  EXPECT_EQ(line_.unacknowledged()[1].metrics().round(), 4);
  EXPECT_EQ(line_.unacknowledged()[1].number(), 2u);
  EXPECT_EQ(line_.received(), 0u) << "numbers begin anew";
}

// The process that was accused is gone, and another is in its place: nobody has accused that one.
TEST_F(OrphanedLine, TellsWhoHasTheRoleWhatIsOnItsDiskOfCheckpointsThatAreNotComplete) {
  for (const Round round : {2, 4, 6}) {
    control::Report report;
    report.mutable_part()->set_round(round);
    line_.Add(report);
  }
  control::Directive directive;
  directive.mutable_checkpoint_done()->set_round(2);
  directive.set_number(2);
  directive.set_received(3);
  line_.OnDirective(directive, now_);  // rank 0 has heard all of them
  EXPECT_EQ(line_.TakeCheckpoint(), 2);
  EXPECT_TRUE(line_.unacknowledged().empty());
  LoseCoordinator();
  line_.Adopt(1, "node1:1", now_);
  Connect();
  ASSERT_EQ(line_.unacknowledged().size(), 2u);
  EXPECT_EQ(line_.unacknowledged()[0].part().round(), 4);
  EXPECT_EQ(line_.unacknowledged()[1].part().round(), 6);
  // It may not know that this one was complete.
  directive.set_number(1);
  directive.set_received(0);
  line_.OnDirective(directive, now_);
  EXPECT_FALSE(line_.verdict().has_value());
  EXPECT_FALSE(line_.TakeCheckpoint().has_value());
}

TEST_F(OrphanedLine, WhatWasSaidOfAProcessIsNotSaidOfItsSuccessor) {
  const auto accuse = [this](Rank culprit, const char* how) {
    control::Report accusation;
    accusation.mutable_failure()->set_culprit(culprit);
    accusation.mutable_failure()->set_message(how);
    line_.Add(accusation);
  };
  const auto view = [this](uint32_t epoch, const std::vector<Member>& members) {
    control::Directive directive;
    directive.mutable_prepare()->set_ballot(epoch);
    line_.OnDirective(directive, now_);
    directive.mutable_view()->set_epoch(epoch);
    directive.mutable_view()->set_ballot(epoch);
    directive.mutable_view()->set_from(static_cast<Round>(epoch));
    SetMembers(members, directive.mutable_view());
    if (members.size() == 3) {
      control::Newcomer& newcomer = *directive.mutable_view()->add_newcomers();
      newcomer.set_rank(1);
      newcomer.set_address("node1:2");
    }
    line_.OnDirective(directive, now_);
    ASSERT_FALSE(line_.verdict().has_value()) << line_.verdict()->message();
  };
  accuse(1, "of the first process");
  view(1, {0, 2});
  view(2, {0, 1, 2});
  LoseCoordinator();
  line_.Adopt(1, "node1:2", now_);
  EXPECT_THAT(line_.unacknowledged(), IsEmpty());
  accuse(1, "of the second process");
  LoseCoordinator();
  line_.Adopt(0, "node0:1", now_);
  ASSERT_EQ(line_.unacknowledged().size(), 1u);
  EXPECT_EQ(line_.unacknowledged()[0].failure().message(), "of the second process");
}

TEST_F(OrphanedLine, AnEndThatIsFoundIsOneForWhoHasDoneItsPart) {
  LoseCoordinator();
  line_.EndAsFound(absl::OkStatus());
  EXPECT_FALSE(line_.verdict()->ok()) << "the others have gone on without it";
}

TEST_F(OrphanedLine, WhoIsDoneHearsAGoodEnd) {
  control::Report done;
  done.mutable_done()->set_round_limit(10);
  line_.Add(done);
  LoseCoordinator();
  line_.EndAsFound(absl::OkStatus());
  EXPECT_TRUE(line_.verdict()->ok());
}

// The others have left it out by now.
TEST_F(OrphanedLine, WhoStoodStillForSoLongDoesNotComeBackToAnother) {
  now_ += milliseconds(4500);
  line_.OnPulse(now_);
  LoseCoordinator();
  EXPECT_TRUE(line_.verdict().has_value());
}

// Though the coordinator is heard meanwhile, which may have stood still as well.
TEST_F(OrphanedLine, WhoStoodStillForSoLongIsInDoubtForAsLongAsOthersWait) {
  now_ += milliseconds(4500);
  line_.OnPulse(now_);
  control::Directive beat;
  beat.mutable_beat();
  for (int i = 0; i < 3; ++i) {
    now_ += milliseconds(1500);
    line_.OnDirective(beat, now_);
    EXPECT_TRUE(line_.OnPulse(now_));
  }
  LoseCoordinator();
  EXPECT_TRUE(line_.orphaned().has_value());
}

}  // namespace
}  // namespace grapevine
