// How long rounds take in the simulator, where links differ in latency.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "experiment/advice/advice.h"
#include "run/config/config_resolve.h"

namespace grapevine::testing {
namespace {

// The time of a hierarchical sum over three sites, in milliseconds.
double Milliseconds(Rank nodes, int64_t bytes) {
  const absl::StatusOr<ResolvedConfig> resolved =
      ResolveConfig({.flags = {{"nodes", std::to_string(nodes)},
                               {"network", "wan-3-sites"},
                               {"algorithm", "allreduce:hierarchical:groups=3"},
                               {"model", "phantom:" + std::to_string(bytes) + "B"},
                               {"compute", "1ms"},
                               {"rounds", "6"}}});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  const auto experiment = Experiment::Build(resolved->config);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  const absl::StatusOr<double> seconds =
      TimeRounds(**experiment, resolved->config, {.warm_up = 2, .measured = 4});
  EXPECT_TRUE(seconds.ok()) << seconds.status();
  return 1000 * *seconds;
}

// Around the ring of sites and back: four latencies of 30 ms, whatever the size.
TEST(TimeRounds, NoOceanIsCrossedForTheCreditOfALargerVector) {
  for (const Rank nodes : {6, 12, 24}) {
    SCOPED_TRACE(nodes);
    const double three_fit = Milliseconds(nodes, 5'592'404);
    EXPECT_NEAR(Milliseconds(nodes, 5'592'408), three_fit, 0.3);
    const double large = Milliseconds(nodes, 40'000'000);
    const double per_byte = (large - three_fit) / (40'000'000 - 5'592'404);
    EXPECT_NEAR(Milliseconds(nodes, 80'000'000), large + 40e6 * per_byte, 3);
  }
}

}  // namespace
}  // namespace grapevine::testing
