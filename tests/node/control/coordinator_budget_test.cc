// A coordinator of nodes that share a budget of gradients: reports that cannot be. What it does
// with others is in tests/scenarios/shared_budget.txt.
#include <functional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/node/control/coordinator_run.h"

namespace grapevine {
namespace {

using testing::HasSubstr;

class CoordinatorBudget : public CoordinatorRun {
 protected:
  // Two workers share a budget of 100 rounds, which are all measured.
  void BeginSharing() {
    n_ = 2;
    directives_.clear();
    coordinator_.emplace(CoordinatorOptions{.own = RegistrationOf(0, 2),
                                            .run_id = "run-1",
                                            .round_limit = 100,
                                            .budget = {{.nodes = 2,
                                                        .workers = 2,
                                                        .rounds = 100,
                                                        .measured = [](Round) { return true; },
                                                        .evaluated = [](Round) { return false; }}}},
                         now_);
    for (Rank rank = 0; rank < 2; ++rank) Register(rank, RegistrationOf(rank, 2));
  }

  void Steps(Rank rank, Round steps, Round cut = 0) {
    control::Report report;
    report.mutable_steps()->set_steps(steps);
    report.mutable_steps()->set_cut(cut);
    coordinator_->OnReport(rank, report, now_);
    Collect();
  }
};

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

TEST_F(CoordinatorBudget, StepsAreForRunsThatShareOne) {
  BeginRunning(2);
  Steps(1, 3);
  EXPECT_THAT(Message(), HasSubstr("rank 1 at 10.0.0.2:7000 reports steps, where all nodes do the "
                                   "same rounds; run the same grapevine on every host"));
  EXPECT_EQ(Class(), Failure::kPeerLost);
}

}  // namespace
}  // namespace grapevine
