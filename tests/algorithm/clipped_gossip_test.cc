// Clipped gossip: what a node that sends garbage can do to the others, with and without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "random/keyed_random.h"
#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"

namespace grapevine::testing {
namespace {

constexpr Rank kClippers = 6;
constexpr Rank kHostile = 2;
constexpr int64_t kClippedSize = 8;

// The others minimize (1/2) |x - 1|^2; the hostile one's steps are large and random, so that what
// it sends is far from everybody's.
void OneComputesGarbage(Rank rank, Round round, std::span<const float> x,
                        std::span<float> gradient) {
  if (rank != kHostile) {
    return Quadratic(1, 0.1, 11, [](Rank) { return 1.0; })(rank, round, x, gradient);
  }
  KeyedRandom garbage(/*seed=*/13, Purpose::kGradientNoise, rank, round);
  for (size_t i = 0; i < x.size(); ++i) {
    gradient[i] = static_cast<float>(x[i] + 1e4 * garbage.Normal());
  }
}

// The largest distance of an honest node's coordinate from the optimum.
double FurthestOff(const std::string& algorithm) {
  Cluster cluster({.algorithm = algorithm,
                   .topology = "complete",
                   .nodes = kClippers,
                   .parameters = kClippedSize,
                   .learning_rate = 0.1,
                   .gradient = OneComputesGarbage});
  EXPECT_TRUE(cluster.Run(200).ok()) << algorithm;
  double furthest = 0;
  for (Rank rank = 0; rank < kClippers; ++rank) {
    if (rank == kHostile) continue;
    for (const float x : cluster.replica(rank)) furthest = std::max(furthest, std::abs(x - 1.0));
  }
  return furthest;
}

TEST(ClippedGossip, TheOthersConvergeBesideANodeThatSendsGarbage) {
  for (const std::string order : {"awc", "atc"}) {
    EXPECT_GT(FurthestOff("dpsgd:order=" + order), 10) << order;
    EXPECT_LT(FurthestOff("dpsgd:order=" + order + ":clip=0.05"), 0.3) << order;
  }
}

// No message moves a node further than its weight times the radius, here 1/3 of it for each of two.
TEST(ClippedGossip, ANeighbourMovesANodeByItsShareOfTheRadius) {
  Cluster cluster(
      {.algorithm = "dpsgd:clip=0.3",
       .topology = "ring",
       .nodes = kClippers,
       .parameters = 1,
       .learning_rate = 0,
       .initial = [](Rank rank, std::span<float> x) { x[0] = rank == kHostile ? 1e6f : 0; },
       .gradient = Quadratic(1, 0, 1)});
  ASSERT_TRUE(cluster.Run(1).ok());
  EXPECT_NEAR(cluster.replica(kHostile - 1)[0], 0.1, 1e-6);
  EXPECT_NEAR(cluster.replica(kHostile + 1)[0], 0.1, 1e-6);
  EXPECT_EQ(cluster.replica(kHostile + 2)[0], 0);
}

// What one takes its neighbour gives, clipped or not.
TEST(ClippedGossip, TheMeanIsKept) {
  for (const std::string order : {"awc", "atc"}) {
    Cluster cluster({.algorithm = "dpsgd:clip=0.2:order=" + order,
                     .topology = "torus",
                     .nodes = 9,
                     .parameters = kClippedSize,
                     .learning_rate = 0,
                     .initial = RandomStart,
                     .gradient = Quadratic(1, 0, 1)});
    ASSERT_TRUE(cluster.Run(1).ok());
    const std::vector<double> before = cluster.Mean();
    ASSERT_TRUE(cluster.Run(25).ok());
    const std::vector<double> after = cluster.Mean();
    for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 3e-6) << order;
  }
}

// Where nothing is longer than the radius, the average is that of D-PSGD but for rounding.
TEST(ClippedGossip, AWideRadiusChangesNothing) {
  const auto distances = [](const std::string& algorithm) {
    Cluster cluster({.algorithm = algorithm,
                     .nodes = kClippers,
                     .parameters = kClippedSize,
                     .buffers = 3,
                     .momentum = 0.9,
                     .initial = RandomStart,
                     .gradient = Quadratic(1, 0.1, 3, UnlikeOptimum)});
    EXPECT_TRUE(cluster.Run(20).ok());
    return std::vector<float>(cluster.replica(1).begin(), cluster.replica(1).end());
  };
  const std::vector<float> plain = distances("dpsgd"), clipped = distances("dpsgd:clip=1000");
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(clipped[i], plain[i], 1e-5);
}

}  // namespace
}  // namespace grapevine::testing
