// Runners that share a budget of gradients, and average without waiting for one another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "random/keyed_random.h"
#include "tests/node/runner/fleet.h"

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

}  // namespace
}  // namespace grapevine::testing
