// What holds of a session whose run has ended.
#include "node/node_session.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "algorithm/algorithm.h"
#include "base/status.h"
#include "optim/optimizer.h"
#include "tests/testing/function_objective.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace grapevine {
namespace {

class Unobserved final : public RunObserver {
 public:
  absl::Status OnRound(const RoundReport&, const BoundaryModel&) override {
    return absl::OkStatus();
  }
  void OnAverage(AveragedModel) override {}
};

ReplicaLayout TwoParameters() {
  ReplicaLayout layout;
  layout.AddParameter("x", {2});
  return layout;
}

// One of two nodes that train for a round.
struct TrainingNode {
  explicit TrainingNode(Rank rank)
      : rank(rank),
        objective(rank, TwoParameters(), [](auto...) {}),
        runner({.rank = rank,
                .workers = 2,
                .nodes = 2,
                .rounds = 1,
                .limit = 1,
                .evaluate = [](Round) { return false; }},
               *MakeAlgorithm("dpsgd",
                              {.rank = rank,
                               .mixing = *MakeMixing("metropolis", *MakeTopology("complete", 2, 1)),
                               .learning_rate = [](Round) { return 0.1; },
                               .window = 1}),
               &objective, &objective.layout(), optimizer.get(), &observer) {}

  absl::Status Run(HostAddress coordinator, NodeSessionCallbacks callbacks) {
    callbacks.on_metrics = [](Rank, const control::NodeMetrics&) {};
    callbacks.on_notice = [](const std::string&) {};
    callbacks.on_start = [] { return absl::OkStatus(); };
    callbacks.on_trained = [](const SharedVector&) { return absl::OkStatus(); };
    session = std::make_unique<NodeSession>(NodeSessionOptions{.rank = rank,
                                                               .size = 2,
                                                               .run_id = "run",
                                                               .coordinator = coordinator,
                                                               .rounds = 1,
                                                               .first_limit = 1},
                                            std::move(callbacks), &runner);
    return session->Run([this](float* replica) {
      objective.Initialize(replica);
      return absl::OkStatus();
    });
  }

  const Rank rank;
  testing::FunctionObjective objective;
  std::unique_ptr<Optimizer> optimizer = *MakeOptimizer("sgd", {});
  Unobserved observer;
  Runner runner;
  std::unique_ptr<NodeSession> session;
};

// A signal, or a file that fails late.
TEST(NodeSession, WhatEndsRankZeroWhileItWritesTheResultsEndsAll) {
  TrainingNode first(0), second(1);
  std::promise<HostAddress> listening;
  auto ended = std::async(std::launch::async, [&] {
    return first.Run({"127.0.0.1", 0},
                     {.on_listening =
                          [&](const HostAddress& address) {
                            listening.set_value(address);
                            return absl::OkStatus();
                          },
                      .on_all_done =
                          [&] {
                            first.session->Interrupt(OutputError("rank 0: no room"));
                            return absl::OkStatus();
                          }});
  });
  const absl::Status other =
      second.Run(listening.get_future().get(),
                 {.on_listening = [](const HostAddress&) { return absl::OkStatus(); }});
  EXPECT_EQ(ended.get().message(), "rank 0: no room");
  EXPECT_EQ(other.message(), "rank 0: no room");
  EXPECT_EQ(FailureOf(other), Failure::kOutput);
}

// A run directory that cannot be made, though nobody else has the run.
TEST(NodeSession, WhatKeepsRankZeroFromBeginningIsToldToAll) {
  TrainingNode first(0), second(1);
  std::promise<HostAddress> listening;
  auto ended = std::async(std::launch::async, [&] {
    return first.Run({"127.0.0.1", 0},
                     {.on_listening =
                          [&](const HostAddress& address) {
                            listening.set_value(address);
                            return absl::OkStatus();
                          },
                      .on_announced = [] { return OutputError("rank 0: no room"); }});
  });
  const absl::Status other =
      second.Run(listening.get_future().get(),
                 {.on_listening = [](const HostAddress&) { return absl::OkStatus(); }});
  EXPECT_EQ(ended.get().message(), "rank 0: no room");
  EXPECT_EQ(other.message(), "rank 0: no room");
  EXPECT_EQ(FailureOf(other), Failure::kOutput);
}

// A watch over the disk, a checkpoint that is written late, a program that gives its last gradient.
TEST(NodeSession, WhatIsReportedOnceTheRunIsOverIsToldToNobody) {
  TrainingNode first(0), second(1);
  std::promise<HostAddress> listening;
  auto ended = std::async(std::launch::async, [&] {
    return first.Run({"127.0.0.1", 0}, {.on_listening =
                                            [&](const HostAddress& address) {
                                              listening.set_value(address);
                                              return absl::OkStatus();
                                            },
                                        .on_all_done = [] { return absl::OkStatus(); }});
  });
  const absl::Status other =
      second.Run(listening.get_future().get(),
                 {.on_listening = [](const HostAddress&) { return absl::OkStatus(); }});
  ASSERT_TRUE(ended.get().ok());
  ASSERT_TRUE(other.ok()) << other;
  second.session->ReportLoss(1, OutputError("its disk has taken nothing"));
  second.session->ReportSpent(1, false);
  second.session->ReportPromise(1, 1);
  EXPECT_FALSE(second.session->ReportPart({}).ok());
}

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
