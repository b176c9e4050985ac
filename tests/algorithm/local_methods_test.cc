// What all methods with local steps have in common: they learn, and stop and go on at any step.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/algorithm/local_loop.h"
#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"

namespace grapevine::testing {
namespace {

// Unlike data: local steps pull the nodes apart, and the averages to the common optimum.
TEST(LocalMethods, LearnTheCommonOptimum) {
  constexpr Rank kNodes = 8;
  double optimum = 0;
  for (Rank rank = 0; rank < kNodes; ++rank) optimum += UnlikeOptimum(rank) / kNodes;
  for (const char* algorithm :
       {"dpsgd:local=4", "dpsgd:order=atc:local=4", "average:every=4", "slowmo:every=4",
        "diloco:every=4", "noloco:every=4", "easgd:every=4"}) {
    ClusterOptions options = LikeLoop(algorithm, kNodes);
    options.length = {};
    options.momentum = 0;
    options.topology = "random-matching";
    options.gradient = Quadratic(1, 0.1, 9, UnlikeOptimum);
    Cluster cluster(options);
    ASSERT_TRUE(cluster.Run(400).ok());
    const std::vector<double> mean = cluster.Mean();
    for (int64_t e = 0; e < LocalLoop::kParameters; ++e) {
      EXPECT_NEAR(mean[e], optimum, 0.15) << algorithm;
    }
  }
}

// Also inside an interval of local steps: a run that ends there ends with local steps, and goes on
// as if it had not.
TEST(LocalMethods, StopAndGoOnAtAnyStep) {
  for (const char* algorithm :
       {"dpsgd:local=3", "dpsgd:order=atc:local=3", "average:every=3", "average:once",
        "slowmo:every=4", "diloco:every=5", "noloco:every=2", "easgd", "easgd:every=3"}) {
    for (const Rank nodes : {1, 2, 3, 5, 8}) {
      Cluster whole(LikeLoop(algorithm, nodes)), in_steps(LikeLoop(algorithm, nodes));
      ASSERT_TRUE(whole.Run(LocalLoop::kRounds).ok()) << algorithm;
      for (Round limit = 0; limit <= LocalLoop::kRounds; ++limit) {
        ASSERT_TRUE(in_steps.Run(limit).ok()) << algorithm << " to round " << limit;
        for (Rank rank = 0; rank < nodes; ++rank) {
          ASSERT_TRUE(in_steps.resting(rank)) << algorithm << " at " << limit;
          ASSERT_EQ(in_steps.algorithm(rank).round(), limit);
          ASSERT_TRUE(in_steps.algorithm(rank).waiting_for().empty());
        }
      }
      for (Rank rank = 0; rank < nodes; ++rank) {
        EXPECT_TRUE(std::ranges::equal(whole.replica(rank), in_steps.replica(rank)))
            << algorithm << " of " << nodes;
      }
    }
  }
}

}  // namespace
}  // namespace grapevine::testing
