// What is particular to fading gossip; what all algorithms owe their drivers is in
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

// After so many rounds on a ring. The nodes' functions differ, so that without averages the
// replicas go apart.
std::unique_ptr<Cluster> Trained(const char* algorithm, grapevine::Round rounds) {
  auto cluster = std::make_unique<Cluster>(
      grapevine::testing::ClusterOptions{.algorithm = algorithm,
                                         .nodes = kNodes,
                                         .parameters = kParameters,
                                         .gradient = grapevine::testing::Quadratic(1, 1, 3)});
  EXPECT_TRUE(cluster->Run(rounds).ok());
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

TEST(FadingGossip, BeforeItFadesItIsDpsgd) {
  const auto fading = Trained("fading-gossip:halving=10:least=0", 10);
  const auto dpsgd = Trained("dpsgd:order=atc", 10);
  for (Rank rank = 0; rank < kNodes; ++rank) {
    EXPECT_EQ(fading->replica(rank), dpsgd->replica(rank));
  }
}

TEST(FadingGossip, TheLessItAveragesTheFartherReplicasAreApart) {
  const double dpsgd = Distance(*Trained("dpsgd:order=atc", 60));
  const double half = Distance(*Trained("fading-gossip:halving=1:least=0.5", 60));
  const double none = Distance(*Trained("fading-gossip:halving=1:least=0", 60));
  EXPECT_GT(half, 1.1 * dpsgd);
  EXPECT_GT(none, 1.1 * half);
}

TEST(FadingGossip, RefusesAShareOfMoreThanAll) {
  const auto mixing =
      *grapevine::MakeMixing("metropolis", *grapevine::MakeTopology("ring", kNodes, 1));
  EXPECT_EQ(grapevine::MakeAlgorithm("fading-gossip:least=2", {.mixing = mixing}).status().message(),
            "fading-gossip:least=2: option least: 2 is greater than 1");
}

}  // namespace
