// How long AD-PSGD takes, with a slow node and without.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "tests/sim/timed_run.h"

namespace grapevine::testing {
namespace {

constexpr Rank kNodes = 8;
constexpr Round kRounds = 200;

// Gradients a second of all nodes together, relative to those of nodes that never wait.
double GossipRate(const std::string& algorithm, bool slow) {
  TimedRun run{.algorithm = algorithm, .nodes = kNodes, .rounds = kRounds, .elements = 27'000};
  run.compute = slow ? std::shared_ptr<const ComputeTime>(std::make_shared<OneIsSlow>(3))
                     : std::make_shared<FixedComputeTime>(kGradient);
  return static_cast<double>(kRounds * kGradient) / static_cast<double>(run.Last());
}

TEST(AdpsgdTime, ASlowNodeCostsLittleMoreThanItsOwnGradients) {
  const double without = GossipRate("adpsgd", false);
  EXPECT_GT(without, 0.95) << "the averages are hidden behind the gradients";
  EXPECT_GT(GossipRate("adpsgd", true), 0.85 * without);
  EXPECT_LT(GossipRate("dpsgd", true), 0.25 * GossipRate("dpsgd", false)) << "which waits for it";
}

// Nobody tells nodes how far the others are but their averages; a slow node is as far in the
// schedule as a fast one all the same.
TEST(AdpsgdTime, AllNodesAreInTheSamePartOfTheSchedule) {
  int64_t steps = 0;
  Round furthest_off = 0;
  TimedRun run{.algorithm = "adpsgd",
               .nodes = kNodes,
               .rounds = kRounds,
               .elements = 27'000,
               .compute = std::make_shared<OneIsSlow>(3)};
  run.learning_rate = [&](Round round) {
    const Round nominal = steps++ / kNodes;
    furthest_off = std::max(furthest_off, std::abs(round - nominal));
    return 0.1;
  };
  run.Last();
  EXPECT_EQ(steps, kRounds * kNodes);
  EXPECT_LE(furthest_off, 6);
}

// Where the average takes longer than the gradient, it is what a step takes: two latencies, and
// the bytes of a share and an answer.
TEST(AdpsgdTime, AStepTakesTheLongerOfGradientAndAverage) {
  TimedRun run{.algorithm = "adpsgd",
               .nodes = 2,
               .rounds = kRounds,
               .compute = std::make_shared<FixedComputeTime>(1000)};
  const double step = static_cast<double>(run.Last()) / kRounds;
  TimedRun seldom = run;
  seldom.algorithm = "adpsgd:every=10";
  EXPECT_NEAR(static_cast<double>(seldom.Last()) / kRounds, step / 10, 0.05 * step);
}

}  // namespace
}  // namespace grapevine::testing
