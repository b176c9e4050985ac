// Runners that share a budget of gradients, and average without waiting for one another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "algorithm/membership/resilient_algorithm.h"
#include "random/keyed_random.h"
#include "tests/node/runner/fleet.h"
#include "tests/node/runner/silent_transport.h"

namespace grapevine::testing {
namespace {

constexpr double kRate = 0.1;  // a fleet's

float Drawn(Rank rank, Round step) {
  KeyedRandom random(1, Purpose::kGradientNoise, rank, step);
  return static_cast<float>(random.Normal());
}

class RunnerBudget
    : public ::testing::TestWithParam<std::tuple<const char*, Rank, FleetOptions::Memory>> {};

// Which gradients are computed where depends on the threads, but not what becomes of them.
TEST_P(RunnerBudget, TheMeanMovesByTheGradientsAlone) {
  FleetOptions experiment{
      .momentum = 0,
      .gradient = [](Rank rank, Round step, std::span<const float>, std::span<float> gradient) {
        std::ranges::fill(gradient.first(kParameters), Drawn(rank, step));
      }};
  std::tie(experiment.algorithm, experiment.nodes, experiment.memory) = GetParam();
  Fleet fleet(experiment, [](Round completed) { return completed % 7 == 0; });
  for (const absl::Status& status : fleet.Run()) ASSERT_TRUE(status.ok()) << status;

  int64_t gradients = 0;
  double sum = 0;
  std::vector<double> mean(kParameters + kBuffers);
  for (Rank rank = 0; rank < experiment.nodes; ++rank) {
    const Runner& runner = *fleet.nodes[rank]->runner;
    gradients += runner.staleness().gradients();
    for (Round step = 0; step < runner.staleness().gradients(); ++step) sum += Drawn(rank, step);
    for (size_t i = 0; i < mean.size(); ++i) {
      mean[i] += runner.model().span()[i] / experiment.nodes;
    }
  }
  EXPECT_EQ(gradients, experiment.rounds * experiment.nodes);
  for (size_t i = 0; i < mean.size(); ++i) {
    const bool is_parameter = i < static_cast<size_t>(kParameters);
    EXPECT_NEAR(mean[i], is_parameter ? -kRate * sum / experiment.nodes : 0, 1e-5) << i;
  }
  EXPECT_EQ(fleet.nodes[0]->recorder.averages.size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(
    All, RunnerBudget,
    ::testing::Combine(::testing::Values("adpsgd", "adpsgd:every=3"),
                       ::testing::Values(1, 2, 3, 5, 8),
                       ::testing::Values(FleetOptions::Memory::kHost,
                                         FleetOptions::Memory::kEmulatedDevice)));

class RunnerServers
    : public ::testing::TestWithParam<std::tuple<const char*, FleetOptions::Memory>> {};

// Each gradient enters the servers' weights once, whichever threads are fast.
TEST_P(RunnerServers, WeightsMoveByAllGradients) {
  constexpr Rank kServers = 2;
  FleetOptions experiment{.nodes = 6, .momentum = 0};
  std::vector<std::atomic<Round>> computed(experiment.nodes);
  experiment.gradient = [&](Rank rank, Round step, std::span<const float>,
                            std::span<float> gradient) {
    ++computed[rank];
    std::ranges::fill(gradient.first(kParameters), Drawn(rank, step));
  };
  std::tie(experiment.algorithm, experiment.memory) = GetParam();
  Fleet fleet(experiment);
  for (const absl::Status& status : fleet.Run()) ASSERT_TRUE(status.ok()) << status;

  const Rank workers = experiment.nodes - kServers;
  int64_t gradients = 0;
  double sum = 0;
  for (Rank rank = 0; rank < workers; ++rank) {
    gradients += computed[rank];
    for (Round step = 0; step < computed[rank]; ++step) sum += Drawn(rank, step);
  }
  EXPECT_EQ(gradients, experiment.rounds * workers);
  std::vector<float> weights;
  for (Rank rank = workers; rank < experiment.nodes; ++rank) {
    const Runner& server = *fleet.nodes[rank]->runner;
    EXPECT_EQ(server.staleness().gradients(), gradients);
    weights.insert(weights.end(), server.model().span().begin(), server.model().span().end());
  }
  ASSERT_EQ(weights.size(), static_cast<size_t>(kParameters + kBuffers));
  for (size_t i = 0; i < weights.size(); ++i) {
    EXPECT_NEAR(weights[i], i < static_cast<size_t>(kParameters) ? -kRate * sum : 0, 1e-4) << i;
  }
}

// A server with one worker rests after each update, and goes on.
TEST(RunnerServer, ModelLeavesADeviceOnceAtTheEnd) {
  Fleet fleet(
      {.algorithm = "ps:async", .nodes = 2, .memory = FleetOptions::Memory::kEmulatedDevice});
  for (const absl::Status& status : fleet.Run()) ASSERT_TRUE(status.ok()) << status;
  const NodeUnderTest& server = *fleet.nodes[1];
  const int64_t updates = server.runner->staleness().gradients();
  const auto& device = dynamic_cast<const EmulatedDevice&>(*server.device);
  // The recorder looks at each update's weights, and the worker is sent them.
  const int64_t bytes = (kParameters + kBuffers) * int64_t{sizeof(float)};
  EXPECT_EQ(device.downloaded(), (2 * updates + 1) * bytes);
}

INSTANTIATE_TEST_SUITE_P(
    All, RunnerServers,
    ::testing::Combine(::testing::Values("ps:async:servers=2", "ps:async:servers=2:staleness=0"),
                       ::testing::Values(FleetOptions::Memory::kHost,
                                         FleetOptions::Memory::kEmulatedDevice)));

class Promises final : public RunObserver {
 public:
  absl::Status OnRound(const RoundReport&, const BoundaryModel&) override {
    return absl::OkStatus();
  }
  void OnAverage(AveragedModel) override {}
  void OnPromise(uint32_t ballot, Round round) override { made.emplace_back(ballot, round); }

  std::vector<std::pair<uint32_t, Round>> made;
};

// A worker beside one server, which gathers that server's weights and has no budget left to use up.
class WorkerAtTheEnd : public ::testing::Test {
 protected:
  WorkerAtTheEnd() {
    EXPECT_TRUE(runner_.BeginRun(&transport_, [](float*) { return absl::OkStatus(); }).ok());
    runner_.Cut(1);
    runner_.SetLimit(0, true);
    EXPECT_TRUE(runner_.HandleMail().ok());
    EXPECT_FALSE(runner_.finished()) << "the weights have not come";
  }
  ~WorkerAtTheEnd() override { runner_.EndRun(); }

  static std::unique_ptr<Algorithm> NewAlgorithm() {
    const auto instance = [](const View& view, Rank rank) {
      return MakeAlgorithm("ps:async",
                           {.rank = rank,
                            .mixing = *MakeMixing("metropolis", *MakeTopology("ring", 2, 1)),
                            .learning_rate = [](Round) { return 0.1; }});
    };
    return *ResilientAlgorithm::Make({.self = 0, .first = FirstView(2), .make = instance});
  }

  static ReplicaLayout OneTensor() {
    ReplicaLayout layout;
    layout.AddParameter("x", {kParameters});
    return layout;
  }

  SilentTransport transport_;
  Promises promises_;
  const std::unique_ptr<Optimizer> optimizer_ = *MakeOptimizer("sgd", {});
  FunctionObjective objective_{0, OneTensor(), Quadratic(1, 1, 11)};
  Runner runner_{{.workers = 1,
                  .nodes = 2,
                  .evaluated = EvaluatedModel::kServersWeights,
                  .rounds = 1,
                  .shares_budget = true,
                  .evaluate = [](Round) { return true; },
                  .changes_views = true},
                 NewAlgorithm(),
                 &objective_,
                 &objective_.layout(),
                 optimizer_.get(),
                 &promises_};
};

// Its server may be done and gone: a farewell would never arrive.
TEST_F(WorkerAtTheEnd, GivesWayToNoViewAnyMore) {
  runner_.Prepare(1);
  runner_.ChangeView({.epoch = 1, .from = 0, .members = {0, 1}, .ballot = 1}, std::nullopt);
  ASSERT_TRUE(runner_.HandleMail().ok());
  EXPECT_THAT(promises_.made, ::testing::ElementsAre(std::pair(1u, Round{-1})));
  EXPECT_EQ(transport_.sent, 0);
}

}  // namespace
}  // namespace grapevine::testing
