// How an open-ended run ends.
#include <algorithm>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/node/control/coordinator_run.h"
#include "tests/node/control/packed_lists.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CoordinatorClosing : public CoordinatorRun {
 protected:
  CoordinatorClosing() { open_ended_ = true; }

  void Spend(Rank rank, Round gradients, bool all = false) {
    control::Report report;
    report.mutable_spent()->set_gradients(gradients);
    report.mutable_spent()->set_all(all);
    coordinator_->OnReport(rank, report, now_);
    Collect();
  }
};

TEST_F(CoordinatorClosing, TheLimitComesInwardsOnceAllHaveGivenTheirLast) {
  BeginRunning(2);
  Spend(0, 20);
  EXPECT_THAT(directives_[1], IsEmpty());
  Spend(1, 20);
  for (const Rank rank : {0, 1}) {
    ASSERT_EQ(directives_[rank].size(), 2u);
    EXPECT_EQ(directives_[rank][0].round_limit().limit(), 21) << "before all coast up to it";
    EXPECT_TRUE(directives_[rank][0].round_limit().final());
    EXPECT_EQ(directives_[rank][1].coast().below(), 21);
    Done(rank, 21);
  }
  EXPECT_EQ(all_done_, 1);
}

TEST_F(CoordinatorClosing, TheLastEvaluationSettlesItWhereThatMayBeAskedForAgain) {
  settles_last_ = resilient_ = true;
  BeginRunning(2);
  Spend(0, 20);
  Spend(1, 20);
  EXPECT_FALSE(directives_[1][0].round_limit().final());
  coordinator_->ExtendRoundLimit(21, /*final=*/true);
  Collect();
  EXPECT_TRUE(Last(1).round_limit().final());
  EXPECT_EQ(Last(1).round_limit().limit(), 21);
}

TEST_F(CoordinatorClosing, WhoHasNoneGoesOnWhereOthersWaitForIt) {
  BeginRunning(2);
  Spend(0, 20);
  Beat(1, 20, {0});
  EXPECT_EQ(Last(0).coast().below(), 21);
  EXPECT_FALSE(Last(0).coast().all());
}

TEST_F(CoordinatorClosing, OneNodeMayEndItForAll) {
  BeginRunning(2);
  Spend(0, 20, /*all=*/true);
  EXPECT_TRUE(Last(1).coast().all());
}

TEST_F(CoordinatorClosing, WhoRestsIsNotSlow) {
  BeginRunning(2);
  Spend(0, 20);
  int64_t moves = 0;
  Pass(milliseconds(70000), [&] { Beat(0, 20), Beat(1, ++moves); });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
}

TEST_F(CoordinatorClosing, TheLostAreNotWaitedFor) {
  resilient_ = true;
  BeginRunning(3);
  Spend(0, 20);
  Spend(1, 20);
  LoseProcess(2);
  Collect();
  EXPECT_EQ(directives_[0][1].round_limit().limit(), 21);
  EXPECT_TRUE(directives_[0][2].has_coast());
}

// A view from round 25 on: all are to come so far, rank 0 too, which has no gradients.
TEST_F(CoordinatorClosing, AViewThatIsAgreedUponIsReached) {
  resilient_ = true;
  BeginRunning(3);
  Spend(0, 20);
  LoseProcess(2);
  Collect();
  const uint32_t ballot = Last(0).prepare().ballot();
  Promise(0, ballot, 20);
  Promise(1, ballot, 24);
  EXPECT_EQ(Last(0).coast().below(), 26) << "its round 25 ends before the view begins";
}

TEST_F(CoordinatorClosing, NobodyComesInAfterwards) {
  resilient_ = true;
  BeginRunning(3);
  LoseProcess(2);
  Collect();
  const uint32_t ballot = Last(0).prepare().ballot();
  for (const Rank rank : {0, 1}) Promise(rank, ballot, 20);
  for (const Rank rank : {0, 1}) Spend(rank, 25);
  control::Registration late = RegistrationOf(2, 3);
  late.set_nonce(77);
  late.set_joins(true);
  Register(9, late);
  EXPECT_THAT(Last(9).abort().message(), HasSubstr("the run is in its last rounds"));
}

TEST_F(CoordinatorClosing, ARunOfAKnownLengthKnowsNoLastGradients) {
  open_ended_ = false;
  BeginRunning(2);
  Spend(1, 20);
  EXPECT_THAT(Message(), HasSubstr("rank 1 at 10.0.0.2:7000 ends after 20 gradients, which the run "
                                   "does not wait for"));
}

TEST_F(CoordinatorClosing, MoreThanThereCanBeAreNotBelieved) {
  BeginRunning(2);
  Spend(1, 101);
  EXPECT_EQ(Class(), Failure::kPeerLost);
}

// Rank 1 was in round 20 with rank 0, whose view without it begins with round 21: the run has that
// round at least, for the average of those who are left.
TEST_F(CoordinatorClosing, AViewHasARoundOfItsOwn) {
  resilient_ = true;
  BeginRunning(2);
  LoseProcess(1);
  Collect();
  Promise(0, Last(0).prepare().ballot(), 20);
  Spend(0, 20);
  for (const control::Directive& directive : directives_[0]) {
    if (!directive.has_round_limit()) continue;
    EXPECT_EQ(directive.round_limit().limit(), 22);
  }
  EXPECT_EQ(Last(0).coast().below(), 22);
}

// Rank 0 has given all its gradients, and has begun a round that rank 1 has not, as it lacks what
// rank 2 took with it: it must come out of its own round to answer rank 1, without a gradient.
TEST_F(CoordinatorClosing, WhoHasNoGradientGivesWayToAView) {
  resilient_ = true;
  BeginRunning(3);
  Spend(0, 1);
  LoseProcess(2);
  Collect();
  const uint32_t ballot = Last(0).prepare().ballot();
  Promise(0, ballot, 0);
  Promise(1, ballot, -1);
  EXPECT_EQ(Last(0).coast().below(), 2);
}

// Too few are left, and wait for others; then their programs end.
TEST_F(CoordinatorClosing, WhoWaitsForOthersGoesOnAloneWhenThereIsNothingLeftToDo) {
  resilient_ = waits_ = true;
  min_nodes_ = 2;
  BeginRunning(2);
  LoseProcess(1);
  Collect();
  Promise(0, Last(0).prepare().ballot(), 20);
  EXPECT_TRUE(Last(0).has_prepare());
  Spend(0, 20);
  const auto& told = directives_[0];
  EXPECT_TRUE(
      std::ranges::any_of(told, [](const auto& directive) { return directive.has_view(); }));
}

// What rank 0 has been told is told to whoever takes the run over, and what it has told.
class ClosingSuccession : public CoordinatorClosing {
 protected:
  void Come(Rank rank, Round limit, Round coasts) {
    control::Registration registration = ComesToSuccessor(rank, 3);
    registration.mutable_standing()->mutable_limit()->set_limit(limit);
    registration.mutable_standing()->set_coasts(coasts);
    Register(rank, registration);
  }
  void SetUp() override {
    SuccessionOptions succession = SuccessionIn(3);
    succession.open_ended = true;
    coordinator_.emplace(CoordinatorOptions{.own = RegistrationOf(1, 3),
                                            .run_id = "run-1",
                                            .round_limit = 100,
                                            .resilient = true,
                                            .role_moves = true,
                                            .succession = succession,
                                            .open_ended = true,
                                            .peer_timeout = milliseconds(4000)},
                         now_);
  }
};

TEST_F(ClosingSuccession, ClosesWhatIsStillOpen) {
  Come(1, 100, 0);
  Spend(1, 20);  // before all are there
  Come(2, 100, 23);
  Spend(2, 20);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  EXPECT_EQ(directives_[2][directives_[2].size() - 2].round_limit().limit(), 24)
      << "rank 2 may have coasted through rounds below 23";
  EXPECT_EQ(Last(2).coast().below(), 24);
}

// Rank 2 was left out, and has not heard of it.
TEST_F(ClosingSuccession, WaitsForNobodyWhoIsLeftOut) {
  control::View without;
  without.set_epoch(1);
  without.set_from(5);
  SetMembers(std::vector<Member>{0, 1}, &without);
  control::Registration successor = ComesToSuccessor(1, 3);
  *successor.mutable_standing()->mutable_view() = without;
  successor.mutable_standing()->mutable_limit()->set_limit(100);
  Come(2, 100, 0);
  Register(1, successor);
  ASSERT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  Promise(1, Last(1).prepare().ballot(), 6);
  Spend(1, 20);
  EXPECT_EQ(Last(1).coast().below(), 21);
}

TEST_F(ClosingSuccession, LeavesClosedWhatWasClosed) {
  Come(1, 21, 20);
  Come(2, 100, 0);
  EXPECT_EQ(directives_[2][0].round_limit().limit(), 21);
  for (const Rank rank : {1, 2}) Spend(rank, 20);
  for (const control::Directive& directive : directives_[2]) {
    if (!directive.has_round_limit()) continue;
    EXPECT_EQ(directive.round_limit().limit(), 21);
  }
  EXPECT_EQ(Last(2).coast().below(), 21);
}

}  // namespace
}  // namespace grapevine
