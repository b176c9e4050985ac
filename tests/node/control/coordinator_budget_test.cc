// A coordinator of nodes that share a budget of gradients: reports that cannot be. What it does
// with others is in tests/scenarios/shared_budget.txt.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/node/control/coordinator_run.h"
#include "tests/node/control/packed_lists.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

class CoordinatorBudget : public CoordinatorRun {
 protected:
  // Two workers share a budget of so many rounds, which are all measured.
  void BeginSharing(Round rounds = 100) {
    n_ = 2;
    directives_.clear();
    coordinator_.emplace(CoordinatorOptions{.own = RegistrationOf(0, 2),
                                            .run_id = "run-1",
                                            .round_limit = rounds,
                                            .resilient = resilient_,
                                            .budget = {{.nodes = 2,
                                                        .workers = 2,
                                                        .rounds = rounds,
                                                        .measured = [](Round) { return true; },
                                                        .evaluated = [](Round) { return false; }}},
                                            .renewals = renewals_},
                         now_);
    for (Rank rank = 0; rank < 2; ++rank) Register(rank, RegistrationOf(rank, 2));
  }

  // The rounds that `rank` was told to measure.
  std::vector<Round> CutsOf(Rank rank) const {
    std::vector<Round> rounds;
    for (const control::Directive& directive : directives_.at(rank)) {
      if (directive.has_cut()) rounds.push_back(directive.cut().round());
    }
    return rounds;
  }
  Round LimitOf(Rank rank) const {
    const auto& told = directives_.at(rank);
    const auto last = std::find_if(told.rbegin(), told.rend(), [](const auto& directive) {
      return directive.has_round_limit();
    });
    return last->round_limit().limit();
  }

  void Steps(Rank rank, Round steps, Round cut = 0, bool resting = false) {
    control::Report report;
    report.mutable_steps()->set_steps(steps);
    report.mutable_steps()->set_cut(cut);
    report.mutable_steps()->set_resting(resting);
    coordinator_->OnReport(rank, report, now_);
    Collect();
  }
};

class CoordinatorRenewals : public CoordinatorBudget {
 protected:
  CoordinatorRenewals() {
    renewals_ = {.saved = [](Round round) { return round == 2; }};
  }
  // Both have done so many steps, and measured all rounds until then.
  void BothAt(Round end) {
    for (Round steps = 1; steps <= end; ++steps) {
      for (Rank rank = 0; rank < 2; ++rank) Steps(rank, steps, steps - 1);
      for (Rank rank = 0; rank < 2; ++rank) Steps(rank, steps, steps);
    }
  }
  std::optional<control::View> ViewOfRank(Rank rank) const {
    for (const control::Directive& directive : directives_.at(rank)) {
      if (directive.has_view()) return directive.view();
    }
    return std::nullopt;
  }
};

TEST_F(CoordinatorRenewals, AreOfAllOnceAllHaveMeasuredTheRound) {
  BeginSharing();
  BothAt(1);
  for (Rank rank = 0; rank < 2; ++rank) Steps(rank, 2, 1);
  EXPECT_THAT(CutsOf(1), ::testing::ElementsAre(1, 2));
  Steps(0, 2, 2);
  Steps(0, 3, 2);
  EXPECT_TRUE(called_.empty()) << "rank 1 has not measured round 2";
  Steps(1, 3, 2);
  Steps(0, 3, 2);
  EXPECT_THAT(called_, ::testing::ElementsAre(2));
  EXPECT_EQ(Last(1).prepare().ballot(), 1u);
  Steps(0, 4, 2);
  Steps(1, 4, 2);
  EXPECT_THAT(CutsOf(1), ::testing::ElementsAre(1, 2, 3)) << "members change";
  Promise(0, 1, 3);
  EXPECT_FALSE(ViewOfRank(0).has_value());
  Promise(1, 1, 3);
  ASSERT_TRUE(ViewOfRank(0).has_value());
  EXPECT_EQ(ViewOfRank(0)->checkpoint(), 2);
  EXPECT_EQ(CountMembers(*ViewOfRank(0)), 2);
  EXPECT_THAT(CutsOf(1), ::testing::ElementsAre(1, 2, 3, 4)) << "what has waited for the view";
}

TEST_F(CoordinatorRenewals, AreNoneOfTheLastRound) {
  BeginSharing(2);
  BothAt(1);
  for (Rank rank = 0; rank < 2; ++rank) Steps(rank, 2, 1, /*resting=*/true);
  for (Rank rank = 0; rank < 2; ++rank) Steps(rank, 2, 2, /*resting=*/true);
  coordinator_->OnTick(now_);
  Collect();
  EXPECT_TRUE(called_.empty());
  EXPECT_TRUE(Last(1).round_limit().final());
}

// Where the others do not go on without it, the view is no reason to.
TEST_F(CoordinatorRenewals, WhoIsLostEndsTheRun) {
  BeginSharing();
  LoseProcess(1);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kAborted);
  EXPECT_THAT(Message(), HasSubstr("rank 1 at 10.0.0.2:7000 died"));
}

TEST_F(CoordinatorRenewals, ARunThatIsToldToEndEndsWithOne) {
  renewals_->saved = nullptr;
  BeginSharing();
  BothAt(3);
  control::Report report;
  report.mutable_stop()->set_message("terminated (SIGTERM)");
  report.mutable_stop()->set_failure(static_cast<int>(Failure::kTerminated));
  coordinator_->OnReport(1, report, now_);
  Collect();
  EXPECT_THAT(called_, ::testing::ElementsAre(3));
  Promise(0, 1, 3);
  Promise(1, 1, 3);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << "the parts are to be written";
  coordinator_->OnCheckpoint(3);
  EXPECT_EQ(Class(), Failure::kTerminated);
  EXPECT_THAT(Message(), HasSubstr("the checkpoint of round 3 is complete"));
}

TEST_F(CoordinatorBudget, GoesOnFromWhatWasDone) {
  n_ = 2;
  coordinator_.emplace(CoordinatorOptions{.own = RegistrationOf(0, 2),
                                          .run_id = "run-1",
                                          .round_limit = 12,
                                          .budget = {{.nodes = 2,
                                                      .workers = 2,
                                                      .rounds = 12,
                                                      .begin = 10,
                                                      .done = {9, 13},
                                                      .measured = [](Round) { return true; },
                                                      .evaluated = [](Round) { return false; }}}},
                       now_);
  for (Rank rank = 0; rank < 2; ++rank) Register(rank, RegistrationOf(rank, 2));
  EXPECT_EQ(LimitOf(0), 10);
  EXPECT_EQ(LimitOf(1), 14);
  EXPECT_THAT(CutsOf(0), ::testing::ElementsAre(11)) << "22 of 24 steps are done";
  Steps(0, 10, 11, /*resting=*/true);
  Steps(1, 14, 11, /*resting=*/true);
  EXPECT_THAT(CutsOf(0), ::testing::ElementsAre(11, 12));
}

// What is measured then is what the run leaves.
TEST_F(CoordinatorBudget, TheLastRoundIsMeasuredWhenNothingIsUnderWay) {
  BeginSharing(2);
  for (Round steps = 1; steps < 3; ++steps) Steps(0, steps);
  Steps(1, 1);
  ASSERT_EQ(LimitOf(0), 3);
  Steps(0, 3);
  EXPECT_THAT(CutsOf(1), ::testing::ElementsAre(1));
  Steps(0, 3, 1, /*resting=*/true);
  EXPECT_THAT(CutsOf(1), ::testing::ElementsAre(1)) << "rank 1 may still average";
  Steps(1, 1, 1, /*resting=*/true);
  EXPECT_THAT(CutsOf(1), ::testing::ElementsAre(1, 2));
  EXPECT_TRUE(directives_.at(1).back().round_limit().final());
}

TEST_F(CoordinatorBudget, ReportsThatCannotBeEndTheRunByName) {
  const struct {
    std::function<void()> report;
    const char* message;
  } cases[] = {
      {[this] { Steps(1, 8); },
       "rank 1 at 10.0.0.2:7000 says that it has done 8 steps, where its limit is 7; run the same "
       "grapevine on every host"},
      {[this] { Steps(1, -1); }, "says that it has done -1 steps, after 0"},
      {[this] {
         Steps(1, 2);
         Steps(1, 1);
       },
       "says that it has done 1 steps, after 2"},
      {[this] { Steps(1, 0, 1); },
       "says that it has measured round 1, where the last to be measured is 0"},
      {[this] {
         Steps(0, 3);
         Steps(0, 3, 1);
         Steps(0, 3, 0);
       },
       "says that it has measured round 0, after 1"},
      {[this] { Done(1, 7); }, "done with 7 steps, before the run is over"},
  };
  for (const auto& c : cases) {
    BeginSharing();
    ASSERT_EQ(directives_[1].back().round_limit().limit(), 7);
    c.report();
    EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kAborted);
    EXPECT_THAT(Message(), HasSubstr(c.message));
  }
}

// What waits for a node is bounded: one that computes, or is stopped, while others do thousands of
// rounds hears of the later ones when it has measured the first.
TEST_F(CoordinatorBudget, ANodeThatLagsIsNotToldOfEveryRound) {
  constexpr Round kRounds = 4 * BudgetDesk::kMaxOpen;
  BeginSharing(kRounds);
  for (Round steps = 0; steps < LimitOf(0);) {
    steps = LimitOf(0);
    Steps(0, steps, CutsOf(0).empty() ? 0 : CutsOf(0).back());
  }
  ASSERT_GT(LimitOf(0), kRounds) << "half of the gradients, and more";
  EXPECT_EQ(CutsOf(1).size(), static_cast<size_t>(BudgetDesk::kMaxOpen));
  EXPECT_EQ(CutsOf(1).back(), BudgetDesk::kMaxOpen);

  Steps(1, 0, 100);
  EXPECT_EQ(CutsOf(1).size(), static_cast<size_t>(BudgetDesk::kMaxOpen) + 100);
  EXPECT_EQ(CutsOf(1), CutsOf(0));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

TEST_F(CoordinatorBudget, StepsAreForRunsThatShareOne) {
  BeginRunning(2);
  Steps(1, 3);
  EXPECT_THAT(Message(), HasSubstr("rank 1 at 10.0.0.2:7000 reports steps, where all nodes do the "
                                   "same rounds; run the same grapevine on every host"));
  EXPECT_EQ(Class(), Failure::kPeerLost);
}

}  // namespace
}  // namespace grapevine
