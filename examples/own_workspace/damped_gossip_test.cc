// What is particular to damped gossip; what all algorithms owe their drivers is in
// @grapevine//tests/algorithm:algorithm_contract, which this test links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "algorithm/algorithm.h"
#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace {

using grapevine::Rank;
using grapevine::testing::Cluster;

constexpr Rank kNodes = 5;
constexpr int64_t kParameters = 20;
constexpr grapevine::Round kRounds = 60;

// On a ring. The nodes' functions differ, so that without averages the
// replicas go apart.
std::unique_ptr<Cluster> Trained(const char* algorithm) {
  auto cluster = std::make_unique<Cluster>(
      grapevine::testing::ClusterOptions{.algorithm = algorithm,
                                         .nodes = kNodes,
                                         .parameters = kParameters,
                                         .gradient = grapevine::testing::Quadratic(1, 1, 3)});
  EXPECT_TRUE(cluster->Run(kRounds).ok());
  return cluster;
}

double Distance(const Cluster& cluster) {
  double sum = 0;
  for (Rank rank = 1; rank < kNodes; ++rank) {
    for (int64_t i = 0; i < kParameters; ++i) {
      sum += std::pow(cluster.replica(rank)[i] - cluster.replica(0)[i], 2);
    }
  }
  return std::sqrt(sum);
}

TEST(DampedGossip, AllOfTheWayIsDpsgd) {
  const auto damped = Trained("damped-gossip:step=1");
  const auto dpsgd = Trained("dpsgd:order=atc");
  for (Rank rank = 0; rank < kNodes; ++rank) {
    EXPECT_THAT(damped->replica(rank), ::testing::ElementsAreArray(dpsgd->replica(rank)));
  }
}

TEST(DampedGossip, TheSmallerTheStepTheFartherReplicasAreApart) {
  const double all = Distance(*Trained("damped-gossip:step=1"));
  const double half = Distance(*Trained("damped-gossip:step=0.5"));
  const double none = Distance(*Trained("damped-gossip:step=0"));
  EXPECT_GT(half, 1.1 * all);
  EXPECT_GT(none, 1.1 * half);
}

TEST(DampedGossip, RefusesToGoBeyondTheAverage) {
  const auto mixing =
      *grapevine::MakeMixing("metropolis", *grapevine::MakeTopology("ring", kNodes, 1));
  EXPECT_EQ(grapevine::MakeAlgorithm("damped-gossip:step=2", {.mixing = mixing}).status().message(),
            "damped-gossip:step=2: option step: 2 is more than 1");
}

}  // namespace
