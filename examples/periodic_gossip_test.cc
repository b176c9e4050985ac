// What is particular to periodic gossip; what all algorithms owe their drivers is in
// //tests/algorithm:algorithm_contract, which this test links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "algorithm/algorithm.h"
#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace grapevine::testing {
namespace {

constexpr Rank kNodes = 5;
constexpr int64_t kParameters = 20;
constexpr Round kRounds = 12;

std::unique_ptr<Cluster> Trained(const char* algorithm) {
  auto cluster = std::make_unique<Cluster>(ClusterOptions{.algorithm = algorithm,
                                                          .nodes = kNodes,
                                                          .parameters = kParameters,
                                                          .momentum = 0.9,
                                                          .gradient = Quadratic(1, 1, 3)});
  EXPECT_TRUE(cluster->Run(kRounds).ok());
  return cluster;
}

TEST(PeriodicGossip, AveragingInEveryRoundIsAdaptThenCombine) {
  const auto periodic = Trained("periodic-gossip:every=1");
  const auto dpsgd = Trained("dpsgd:order=atc");
  for (Rank rank = 0; rank < kNodes; ++rank) {
    EXPECT_THAT(periodic->replica(rank),
                ::testing::Pointwise(::testing::FloatNear(1e-5f), dpsgd->replica(rank)));
  }
}

TEST(PeriodicGossip, SendsInEveryThirdRoundAlone) {
  constexpr int64_t kNeighbours = 2, kBytes = kParameters * sizeof(float);
  EXPECT_EQ(Trained("periodic-gossip:every=3")->bytes_sent(0), kRounds / 3 * kNeighbours * kBytes);
}

TEST(PeriodicGossip, RefusesAPeriodOfNoRounds) {
  const auto mixing = *MakeMixing("metropolis", *MakeTopology("ring", kNodes, 1));
  EXPECT_EQ(MakeAlgorithm("periodic-gossip:every=0", {.mixing = mixing}).status().message(),
            "periodic-gossip:every=0: option every: 0 is less than 1");
}

}  // namespace
}  // namespace grapevine::testing
