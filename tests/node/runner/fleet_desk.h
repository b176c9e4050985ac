// Rank 0's desk (node/control/budget_desk.h) for nodes in one process that share a budget of
// gradients: what they report and are told takes no network.
//
// Any thread.
#ifndef GRAPEVINE_TESTS_NODE_RUNNER_FLEET_DESK_H_
#define GRAPEVINE_TESTS_NODE_RUNNER_FLEET_DESK_H_

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "node/control/budget_desk.h"
#include "node/runner/runner.h"
#include "system/mutex.h"

namespace grapevine::testing {

class FleetDesk {
 public:
  explicit FleetDesk(BudgetDeskOptions options) : desk_(std::move(options)) {}

  // By rank; they outlive the desk's use. Tells them how far they may go.
  void Begin(std::vector<Runner*> runners, Round rounds) {
    MutexLock lock(mutex_);
    runners_ = std::move(runners);
    desk_.Extend(rounds, /*final=*/true);
    Tell();
  }

  void OnSteps(Rank rank, const StepsReport& report) {
    control::Steps steps;
    steps.set_steps(report.steps);
    steps.set_resting(report.resting);
    steps.set_cut(report.cut);
    MutexLock lock(mutex_);
    const absl::Status status = desk_.OnSteps(rank, steps);
    EXPECT_TRUE(status.ok()) << "rank " << rank << " " << status;
    Tell();
  }

 private:
  void Tell() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const auto& [rank, directive] : desk_.Take()) {
      if (directive.has_round_limit()) {
        runners_[rank]->SetLimit(directive.round_limit().limit(), directive.round_limit().final());
      } else {
        runners_[rank]->Cut(directive.cut().round());
      }
    }
  }

  Mutex mutex_;
  BudgetDesk desk_ ABSL_GUARDED_BY(mutex_);
  std::vector<Runner*> runners_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_RUNNER_FLEET_DESK_H_
