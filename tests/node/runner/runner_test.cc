// What a runner tells its observer and a trace, and how it is driven.
#include "node/runner/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "node/runner/trace_recorder.h"
#include "node/transport/memory_transport.h"
#include "tests/node/runner/fleet.h"
#include "tests/testing/slowness.h"

namespace grapevine::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Runner, TheAverageOfAParameterServersRunIsThatOfItsWorkers) {
  const FleetOptions experiment{.algorithm = "ps:servers=2", .nodes = 6};
  Fleet fleet(experiment, [](Round completed) { return completed % 10 == 0; });
  for (const absl::Status& status : fleet.Run()) ASSERT_TRUE(status.ok()) << status;
  const auto& averages = fleet.nodes[0]->recorder.averages;
  ASSERT_EQ(averages.size(), 2u);
  for (const AveragedModel& average : averages) {
    for (int64_t i = 0; i < kParameters + kBuffers; ++i) {
      EXPECT_NEAR(average.model.data[i], fleet.nodes[3]->recorder.models[average.round - 1][i],
                  1e-6);
    }
    EXPECT_EQ(average.consensus_distance, 0);
  }
  for (Rank server : {4, 5}) {
    EXPECT_EQ(fleet.nodes[server]->recorder.reports.size(), 20u);
    EXPECT_EQ(fleet.nodes[server]->recorder.models.back().size(), 0u);
    EXPECT_EQ(fleet.nodes[server]->runner->model().data, nullptr);
  }
}

TEST(Runner, TheAveragedModelAndTheConsensusDistanceAreExact) {
  const FleetOptions experiment{.nodes = 7, .rounds = 9};
  Fleet fleet(experiment, [](Round completed) { return completed % 3 == 0; });
  for (const absl::Status& status : fleet.Run()) ASSERT_TRUE(status.ok()) << status;
  const auto& averages = fleet.nodes[0]->recorder.averages;
  ASSERT_EQ(averages.size(), 3u);
  for (size_t k = 0; k < averages.size(); ++k) {
    const Round round = 3 * static_cast<Round>(k + 1);
    EXPECT_EQ(averages[k].round, round);
    double distance = 0;
    for (int64_t i = 0; i < kParameters + kBuffers; ++i) {
      double mean = 0;
      for (const auto& node : fleet.nodes) mean += node->recorder.models[round - 1][i] / 7;
      EXPECT_NEAR(averages[k].model.data[i], mean, 1e-6);
      for (const auto& node : fleet.nodes) {
        if (i < kParameters)
          distance += std::pow(node->recorder.models[round - 1][i] - mean, 2) / 7;
      }
    }
    EXPECT_NEAR(*averages[k].consensus_distance / distance, 1, 1e-5);
  }
  EXPECT_TRUE(fleet.nodes[1]->recorder.averages.empty());
}

TEST(Runner, OneAverageIsOutAtATimeAndNoneIsSkipped) {
  const FleetOptions experiment{.nodes = 4, .rounds = 12};
  Fleet fleet(experiment, [](Round) { return true; });
  const Recorder& recorder = fleet.nodes[0]->recorder;
  for (const absl::Status& status : fleet.Run()) ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(recorder.averages.size(), 12u);
  for (size_t k = 0; k < 12; ++k) EXPECT_EQ(recorder.averages[k].round, static_cast<Round>(k + 1));
}

TEST(Runner, TellsATraceWhatItDoes) {
  const FleetOptions experiment{.topology = "complete", .nodes = 3, .rounds = 6};
  TraceRecorder traces[3];
  auto hub = std::make_shared<MemoryHub>(experiment.nodes);
  std::vector<std::unique_ptr<NodeUnderTest>> nodes;
  for (Rank rank = 0; rank < experiment.nodes; ++rank) {
    // Averages are taken: their messages are not the algorithm's.
    nodes.push_back(std::make_unique<NodeUnderTest>(
        experiment, rank, hub,
        RunnerOptions{.rounds = experiment.rounds,
                      .limit = experiment.rounds,
                      .evaluate = [](Round completed) { return completed == 6; },
                      .trace = &traces[rank]}));
  }
  std::vector<std::thread> threads;
  for (auto& node : nodes) threads.emplace_back([&node] { EXPECT_TRUE(node->Run().ok()); });
  for (std::thread& thread : threads) thread.join();
  for (Rank rank = 0; rank < experiment.nodes; ++rank) {
    std::map<TraceKind, int> count;
    const NodeTrace trace = traces[rank].Take(rank);
    for (const TraceRecord& record : trace.records) {
      ++count[record.kind];
      EXPECT_LE(record.begin, record.end);
      EXPECT_GE(record.begin, trace.start);
      EXPECT_NE(record.peer, record.kind == TraceKind::kSent ? rank : -1);
      if (record.kind == TraceKind::kSent) {
        EXPECT_EQ(record.bytes, 4 * (kParameters + kBuffers));
      }
    }
    EXPECT_EQ(count[TraceKind::kStep], 6);
    EXPECT_EQ(count[TraceKind::kGradient], 6);
    EXPECT_EQ(count[TraceKind::kSent], 12);
    EXPECT_EQ(count[TraceKind::kReceived], 12);
    EXPECT_GE(count[TraceKind::kMix], 6);
  }
}

TEST(Runner, AnOpenEndMovesUntilItIsFinal) {
  const FleetOptions experiment{.nodes = 3, .rounds = 1000};
  Fleet fleet(
      experiment, [](Round) { return false; }, /*limit=*/5);
  for (const auto& node : fleet.nodes) {
    node->runner->SetLimit(8, false);
    node->runner->SetLimit(12, true);
  }
  for (const absl::Status& status : fleet.Run()) ASSERT_TRUE(status.ok()) << status;
  for (const auto& node : fleet.nodes) EXPECT_EQ(node->recorder.reports.back().completed, 12);
}

using Time = std::chrono::steady_clock::time_point;

// Computes when it is told to, on the thread that tells it.
class GradientsOnDemand final : public GradientComputer {
 public:
  GradientsOnDemand(Objective* objective, GradientReports reports, const Time* now)
      : objective_(objective), reports_(std::move(reports)), now_(now) {}
  void Compute(SharedVector at, SharedVector into, Round round, std::vector<int64_t>) override {
    work = [=, this, begin = *now_] {
      absl::StatusOr<double> loss = objective_->Gradient(at.data.get(), round, into.data.get());
      reports_.done({round, std::move(loss), {}, begin, *now_});
    };
  }
  std::function<void()> work;

 private:
  Objective* const objective_;
  const GradientReports reports_;
  const Time* const now_;
};

// A node at a clock and with gradients of the test's own; alone where there is no hub.
struct SteppedNode {
  SteppedNode() : SteppedNode({.nodes = 1, .rounds = 3}, 0, std::make_shared<MemoryHub>(1)) {}
  SteppedNode(
      const FleetOptions& experiment, Rank rank, std::shared_ptr<MemoryHub> hub,
      std::function<bool(Round)> evaluate = [](Round) { return false; },
      std::optional<Round> limit = {})
      : alone(experiment, rank, std::move(hub),
              Options(experiment.rounds, limit.value_or(experiment.rounds), std::move(evaluate))) {}

  RunnerOptions Options(Round rounds, Round limit, std::function<bool(Round)> evaluate) {
    return {.rounds = rounds,
            .limit = limit,
            .evaluate = std::move(evaluate),
            .gradients =
                [this](GradientReports reports) {
                  auto made = std::make_unique<GradientsOnDemand>(alone.objective,
                                                                  std::move(reports), &now);
                  gradients = made.get();
                  return made;
                },
            .now = [this] { return now; }};
  }
  absl::Status Begin() {
    return alone.runner->BeginRun(alone.transport.get(), [this](float* replica) {
      alone.objective->Initialize(replica);
      return absl::OkStatus();
    });
  }

  // Computes the gradient that was asked for, and handles what has come.
  void Step() {
    if (gradients->work) std::exchange(gradients->work, {})();
    EXPECT_TRUE(alone.runner->HandleMail().ok());
  }
  Progress progress() const { return alone.runner->progress(); }

  Time now{};
  GradientsOnDemand* gradients = nullptr;
  NodeUnderTest alone;
};

// Steps of these, until it holds: what they send each other comes on threads of its own.
bool StepUntil(const std::vector<SteppedNode*>& nodes, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + Patient(std::chrono::seconds(20));
  while (!condition() && std::chrono::steady_clock::now() < deadline) {
    for (SteppedNode* node : nodes) node->Step();
  }
  return condition();
}

TEST(Runner, RunsInStepsOnADriversThreadAndClock) {
  SteppedNode node;
  ASSERT_TRUE(node.Begin().ok());
  Runner& runner = *node.alone.runner;
  for (Round round = 0; round < 3; ++round) {
    EXPECT_FALSE(runner.finished());
    EXPECT_EQ(runner.progress().round, round);
    node.now += std::chrono::seconds(2);
    std::exchange(node.gradients->work, {})();
    ASSERT_TRUE(runner.HandleMail().ok());
    EXPECT_EQ(node.alone.recorder.reports.back().time, std::chrono::seconds(2));
  }
  EXPECT_TRUE(runner.finished());
  runner.EndRun();
  const auto model = runner.model().span();
  EXPECT_EQ(std::vector<float>(model.begin(), model.end()),
            ClusterReplica({.nodes = 1, .rounds = 3}, 0));
}

TEST(Runner, SaysForWhomItWaitsWhenItHasNothingElseToDo) {
  const FleetOptions experiment{.nodes = 2, .rounds = 3};
  auto hub = std::make_shared<MemoryHub>(2);
  SteppedNode here(experiment, 0, hub), there(experiment, 1, hub);
  ASSERT_TRUE(here.Begin().ok());
  ASSERT_TRUE(here.alone.runner->HandleMail().ok());
  EXPECT_EQ(here.progress().doing, "computing");
  EXPECT_THAT(here.progress().waiting_for, IsEmpty()) << "its neighbour's replica, but not yet";
  here.Step();
  EXPECT_EQ(here.progress().doing, "waiting");
  EXPECT_THAT(here.progress().waiting_for, ElementsAre(1));
}

// Node 1 is 3 s late with what it sends in round 1.
TEST(Runner, ARoundTellsForWhomItWaited) {
  using std::chrono::milliseconds, std::chrono::seconds;
  const FleetOptions experiment{.nodes = 2, .rounds = 9};
  auto hub = std::make_shared<MemoryHub>(2);
  SteppedNode punctual(experiment, 0, hub), late(experiment, 1, hub);
  const auto set_time = [&](seconds time) { punctual.now = late.now = Time() + time; };
  set_time(seconds(100));
  ASSERT_TRUE(punctual.Begin().ok());
  ASSERT_TRUE(late.Begin().ok());
  set_time(seconds(101));
  ASSERT_TRUE(StepUntil({&punctual}, [&] {
    return punctual.progress().round == 1 && punctual.progress().doing == "waiting";
  }));
  set_time(seconds(104));
  ASSERT_TRUE(StepUntil({&late, &punctual}, [&] { return punctual.progress().round >= 2; }));
  const auto& reports = punctual.alone.recorder.reports;
  EXPECT_EQ(reports[0].waited, seconds(0)) << "its own gradient took the whole of it";
  EXPECT_FALSE(reports[0].awaited.has_value());
  EXPECT_LE(reports[1].waited, seconds(3));
  EXPECT_GE(reports[1].waited, milliseconds(2900)) << "less what passes take by their own clock";
  EXPECT_EQ(reports[1].awaited, 1);
  punctual.alone.runner->EndRun();
  late.alone.runner->EndRun();
}

// It rests at its limit for 50 s, and then waits for 3 s.
TEST(Runner, ARestIsNoWaitForANeighbour) {
  using std::chrono::milliseconds, std::chrono::seconds;
  const FleetOptions experiment{.nodes = 2, .rounds = 9};
  auto hub = std::make_shared<MemoryHub>(2);
  const auto never = [](Round) { return false; };
  SteppedNode punctual(experiment, 0, hub, never, /*limit=*/1);
  SteppedNode late(experiment, 1, hub, never, /*limit=*/1);
  const auto set_time = [&](seconds time) { punctual.now = late.now = Time() + time; };
  set_time(seconds(100));
  ASSERT_TRUE(punctual.Begin().ok());
  ASSERT_TRUE(late.Begin().ok());
  // Not only at the limit: all that was on its way has come, and the end is what is waited for.
  const auto rests = [](const SteppedNode& node) {
    return node.progress().round == 1 && node.progress().waiting_for == std::vector<Rank>{0};
  };
  ASSERT_TRUE(StepUntil({&punctual, &late}, [&] { return rests(punctual) && rests(late); }));
  set_time(seconds(150));
  punctual.alone.runner->SetLimit(2, false);
  late.alone.runner->SetLimit(2, false);
  ASSERT_TRUE(StepUntil({&punctual},
                        [&] { return punctual.progress().waiting_for == std::vector<Rank>{1}; }));
  set_time(seconds(153));
  ASSERT_TRUE(StepUntil({&late, &punctual}, [&] { return punctual.progress().round == 2; }));
  const RoundReport& report = punctual.alone.recorder.reports[1];
  EXPECT_LE(report.waited, seconds(3));
  EXPECT_GE(report.waited, milliseconds(2900));
  EXPECT_EQ(report.awaited, 1);
  punctual.alone.runner->EndRun();
  late.alone.runner->EndRun();
}

// The replicas of the next round are there, and wait behind the evaluation.
TEST(Runner, AnEvaluationThatHoldsTheRunUpIsNoWait) {
  const FleetOptions experiment{.nodes = 2, .rounds = 9};
  auto hub = std::make_shared<MemoryHub>(2);
  const auto always = [](Round) { return true; };
  SteppedNode zero(experiment, 0, hub, always), one(experiment, 1, hub, always);
  zero.alone.recorder.keeps_averages = true;
  ASSERT_TRUE(zero.Begin().ok());
  ASSERT_TRUE(one.Begin().ok());
  const auto go_on_until = [&](const std::function<bool()>& condition) {
    return StepUntil({&zero, &one}, condition);
  };
  const auto held_up_in = [&](Round round) {
    return zero.progress().round == round && zero.progress().doing == "evaluating" &&
           one.progress().waiting_for == std::vector<Rank>{0};
  };
  EXPECT_TRUE(go_on_until([&] { return held_up_in(2); }))
      << zero.progress().doing << " in round " << zero.progress().round;
  EXPECT_THAT(zero.progress().waiting_for, IsEmpty());
  // Each average that is let go lets the run go on by a round.
  zero.alone.recorder.holds_average = false;
  zero.alone.runner->OnAverageDone();
  EXPECT_TRUE(go_on_until([&] { return held_up_in(3); }));
  zero.alone.runner->EndRun();
  one.alone.runner->EndRun();
}

// What moves the limit may wait behind an evaluation with the gradient before it, which
// then comes to rest at the limit of old.
TEST(Runner, ALimitThatMovesWhileTheRunIsHeldUpIsNotTheEndOfOld) {
  const auto always = [](Round) { return true; };
  SteppedNode node({.nodes = 1, .rounds = 1000}, 0, std::make_shared<MemoryHub>(1), always,
                   /*limit=*/3);
  Runner& runner = *node.alone.runner;
  node.alone.recorder.keeps_averages = true;
  ASSERT_TRUE(node.Begin().ok());
  const auto let_average_go = [&] {
    node.alone.recorder.holds_average = false;
    runner.OnAverageDone();
    node.Step();
  };
  for (int step = 0; step < 3; ++step) node.Step();
  ASSERT_EQ(node.progress().doing, "evaluating") << "round 1, and what ends round 3 waits";
  ASSERT_EQ(node.progress().round, 2);
  runner.SetLimit(6, false);
  let_average_go();
  ASSERT_EQ(node.progress().round, 3);
  runner.SetLimit(6, true);
  for (int step = 0; step < 10 && !runner.finished(); ++step) let_average_go();
  EXPECT_TRUE(runner.finished());
  EXPECT_EQ(node.alone.recorder.reports.back().completed, 6);
  runner.EndRun();
}

}  // namespace
}  // namespace grapevine::testing
