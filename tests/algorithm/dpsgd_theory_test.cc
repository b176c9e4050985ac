// What theory says of D-PSGD without noise: the mean, stability and bias.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"

namespace grapevine::testing {
namespace {

double Norm(std::span<const float> x) {
  double squares = 0;
  for (float value : x) squares += static_cast<double>(value) * value;
  return std::sqrt(squares);
}

class MeanPreservation : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(MeanPreservation, MixingAloneKeepsTheMeanAndReachesConsensus) {
  const auto [topology, algorithm] = GetParam();
  Cluster cluster({.algorithm = algorithm,
                   .topology = topology,
                   .nodes = 12,
                   .parameters = 50,
                   .learning_rate = 0,
                   .initial = RandomStart,
                   .gradient = Quadratic(1, 0, 1)});
  ASSERT_TRUE(cluster.Run(0).ok());
  const std::vector<double> before = cluster.Mean();
  const double distance = cluster.ConsensusDistance();
  ASSERT_TRUE(cluster.Run(120).ok());
  const std::vector<double> after = cluster.Mean();
  for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-6);
  EXPECT_LT(cluster.ConsensusDistance(), 1e-3 * distance);
}

INSTANTIATE_TEST_SUITE_P(
    All, MeanPreservation,
    ::testing::Combine(::testing::Values("ring", "torus", "complete", "random:d=3", "exponential",
                                         "one-peer-exponential", "random-matching"),
                       ::testing::Values("dpsgd", "dpsgd:order=atc")));

struct Limit {
  std::string topology;
  Rank nodes;
  std::string algorithm;
  double momentum;
  double limit;  // of learning rate * h
};

class Stability : public ::testing::TestWithParam<Limit> {
 protected:
  double NormAfter(double learning_rate) {
    Cluster cluster({.algorithm = GetParam().algorithm,
                     .topology = GetParam().topology,
                     .nodes = GetParam().nodes,
                     .parameters = 4,
                     .learning_rate = learning_rate,
                     .momentum = GetParam().momentum,
                     // Alike on all nodes, which allreduce never mixes.
                     .initial =
                         [this](Rank rank, std::span<float> x) {
                           RandomStart(GetParam().algorithm == "allreduce" ? 0 : rank, x);
                         },
                     .gradient = Quadratic(1, 0, 1)});
    EXPECT_TRUE(cluster.Run(400).ok());
    double largest = 0;
    for (Rank rank = 0; rank < GetParam().nodes; ++rank) {
      largest = std::max(largest, Norm(cluster.replica(rank)));
    }
    return largest;
  }
};

TEST_P(Stability, ConvergesBelowTheLimitAndDivergesAboveIt) {
  EXPECT_LT(NormAfter(0.96 * GetParam().limit), 1e-2);
  EXPECT_GT(NormAfter(1.04 * GetParam().limit), 1e2);
}

// AWC: (1 + lambda_min)(1 + beta); ATC: 2 (1 + beta).
INSTANTIATE_TEST_SUITE_P(All, Stability,
                         ::testing::Values(Limit{"ring", 8, "dpsgd", 0, 2.0 / 3},
                                           Limit{"ring", 8, "dpsgd", 0.5, 1.0},
                                           Limit{"hypercube", 16, "dpsgd", 0, 0.4},
                                           Limit{"ring", 8, "dpsgd:order=atc", 0, 2.0},
                                           Limit{"ring", 8, "allreduce", 0, 2.0}));

class Bias : public ::testing::TestWithParam<int> {};

// With b an eigenvector of the ring, node i settles at factor * b_i.
TEST_P(Bias, SingleNodesKeepTheBiasThatTheirModePredicts) {
  constexpr Rank kNodes = 8;
  constexpr double kRate = 0.1;
  const int mode = GetParam();
  const auto b = [mode](Rank rank) {
    return std::cos(2 * std::numbers::pi * mode * rank / kNodes);
  };
  const double lambda = 1.0 / 3 + 2.0 / 3 * std::cos(2 * std::numbers::pi * mode / kNodes);
  const double awc = kRate / (1 - lambda + kRate);
  const double atc = lambda * kRate / (1 - lambda * (1 - kRate));
  for (const auto& [algorithm, factor] : {std::pair("dpsgd", awc), {"dpsgd:order=atc", atc}}) {
    Cluster cluster({.algorithm = algorithm,
                     .nodes = kNodes,
                     .learning_rate = kRate,
                     .initial = RandomStart,
                     .gradient = Quadratic(1, 0, 1, b)});
    ASSERT_TRUE(cluster.Run(400).ok());
    for (Rank rank = 0; rank < kNodes; ++rank) {
      EXPECT_NEAR(cluster.replica(rank)[0], factor * b(rank), 1e-5) << algorithm << ' ' << rank;
    }
    EXPECT_NEAR(cluster.Mean()[0], 0, 1e-6) << "the mean reaches the optimum";
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Bias, ::testing::Values(1, 2, 3, 4));

// The AWC order does not equal allreduce SGD: its gradients are taken at unequal
// replicas.
TEST(DpsgdAgainstAllreduce, AtcOnTheCompleteGraphEqualsAllreduce) {
  const auto run = [](const char* algorithm) {
    auto cluster = std::make_unique<Cluster>(ClusterOptions{.algorithm = algorithm,
                                                            .topology = "complete",
                                                            .nodes = 7,
                                                            .parameters = 33,
                                                            .buffers = 5,
                                                            .learning_rate = 0.05,
                                                            .momentum = 0.0,
                                                            .gradient = Quadratic(1, 1, 5)});
    EXPECT_TRUE(cluster->Run(100).ok());
    return cluster;
  };
  const auto atc = run("dpsgd:order=atc");
  const auto awc = run("dpsgd");
  const auto allreduce = run("allreduce");
  double awc_difference = 0;
  for (Rank rank = 0; rank < 7; ++rank) {
    for (size_t i = 0; i < allreduce->replica(rank).size(); ++i) {
      EXPECT_NEAR(atc->replica(rank)[i], allreduce->replica(rank)[i], 1e-6);
      awc_difference = std::max<double>(
          awc_difference, std::abs(awc->replica(rank)[i] - allreduce->replica(rank)[i]));
    }
  }
  EXPECT_GT(awc_difference, 1e-2);
}

}  // namespace
}  // namespace grapevine::testing
