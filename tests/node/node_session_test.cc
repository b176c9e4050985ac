// What holds of a session whose run has ended.
#include "node/node_session.h"

#include <gtest/gtest.h>

#include "base/failure.h"

namespace grapevine {
namespace {

// As in a run with a target accuracy: its last batch took longer than the end of the run.
TEST(NodeSession, AnEvaluationThatOutlivesTheRunMovesNothing) {
  Runner runner({}, nullptr, nullptr, nullptr, nullptr, nullptr);  // the run never gets to it
  NodeSession session(
      {.run_id = "run",
       .coordinator = {"127.0.0.1", 0},
       .bind = {"127.0.0.1", 0},
       .rounds = 10,
       .first_limit = 4},
      {.on_listening = [](const HostAddress&) { return absl::OkStatus(); },
       .on_metrics = [](Rank, const control::NodeMetrics&) {},
       .on_notice = [](const std::string&) {},
       .on_start =
           [] { return WithFailure(absl::InternalError("rank 0: no folder"), Failure::kOutput); }},
      &runner);
  const absl::Status ended = session.Run([](float*) { return absl::OkStatus(); });
  EXPECT_EQ(ended.message(), "rank 0: no folder");
  EXPECT_EQ(FailureOf(ended), Failure::kOutput);
  EXPECT_EQ(session.OnEvaluatedBatch(), ended);
  session.ExtendRoundLimit(8, false);
  session.ExtendRoundLimit(8, true);
}

}  // namespace
}  // namespace grapevine
