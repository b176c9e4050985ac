// D-PSGD against a loop over W in double precision, on graphs of unequal degree and with
// weights that are not the default.
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"
#include "tests/testing/dpsgd_loop.h"
#include "tests/testing/weighted_graphs.h"

namespace grapevine::testing {
namespace {

constexpr Rank kNodes = WeightedGraph::kNodes;
constexpr Round kRounds = 30;
constexpr int64_t kLoopParameters = 19;
constexpr double kRate = 0.05;
constexpr double kMomentum = 0.9;

Matrix Identity() {
  Matrix w(kNodes, std::vector<double>(kNodes));
  for (Rank i = 0; i < kNodes; ++i) w[i][i] = 1;
  return w;
}

// With an average in every `local`-th round, in turn over the graphs of W.
Replicas Expected(const WeightedGraph& graph, bool atc, int64_t local) {
  const auto w = [&](Round round) {
    return (round + 1) % local == 0 ? graph.w(round / local) : Identity();
  };
  Replicas start, optima;
  for (Rank rank = 0; rank < kNodes; ++rank) {
    std::vector<float> x(kLoopParameters);
    RandomStart(rank, x);
    start.emplace_back(x.begin(), x.end());
    optima.emplace_back(kLoopParameters, UnlikeOptimum(rank));
  }
  return After(
      kRounds,
      {.w = w, .atc = atc, .learning_rate = kRate, .momentum = kMomentum, .optima = optima}, start);
}

class DpsgdOracle : public ::testing::TestWithParam<WeightedGraph> {};

TEST_P(DpsgdOracle, IsALoopOverW) {
  for (const auto& [algorithm, atc, local] : {std::tuple("dpsgd", false, 1),
                                              {"dpsgd:order=atc", true, 1},
                                              {"dpsgd:local=4", false, 4},
                                              {"dpsgd:order=atc:local=3", true, 3}}) {
    const Replicas expected = Expected(GetParam(), atc, local);
    for (const int window : {1, 2, 4}) {
      Cluster cluster({.algorithm = algorithm,
                       .topology = GetParam().topology,
                       .mixing = GetParam().mixing,
                       .nodes = kNodes,
                       .parameters = kLoopParameters,
                       .learning_rate = kRate,
                       .momentum = kMomentum,
                       .window = window,
                       .order_seed = static_cast<uint64_t>(window),
                       .initial = RandomStart,
                       .gradient = Quadratic(1, 0, 1, UnlikeOptimum)});
      ASSERT_TRUE(cluster.Run(kRounds).ok());
      for (Rank rank = 0; rank < kNodes; ++rank) {
        for (int64_t e = 0; e < kLoopParameters; ++e) {
          EXPECT_NEAR(cluster.replica(rank)[e], expected[rank][e], 2e-6)
              << algorithm << ", window " << window << ", rank " << rank;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, DpsgdOracle, ::testing::ValuesIn(WeightedGraphs()),
                         [](const auto& info) { return info.param.name; });

// The graph has a period of 3 rounds and an exact average in them. Counted in rounds, two local
// steps would leave one of its three rounds for the fourth exchange; 3 would show the first alone.
TEST(DpsgdLocal, ReachesTheExactAverageInAPeriodOfCommunications) {
  constexpr int kPeriod = 3;
  for (const std::string order : {"awc", "atc"}) {
    for (const int local : {1, 2, 3, 6}) {
      Cluster cluster({.algorithm = "dpsgd:order=" + order + ":local=" + std::to_string(local),
                       .topology = "one-peer-exponential",
                       .nodes = kNodes,
                       .parameters = kLoopParameters,
                       .learning_rate = 0,
                       .initial = RandomStart,
                       .gradient = Quadratic(1, 0, 1)});
      ASSERT_TRUE(cluster.Run(Round{local} * (kPeriod - 1)).ok());
      EXPECT_GT(cluster.ConsensusDistance(), 0.01) << order << ", local " << local;
      ASSERT_TRUE(cluster.Run(Round{local} * kPeriod).ok());
      EXPECT_LT(cluster.ConsensusDistance(), 1e-12) << order << ", local " << local;
    }
  }
}

}  // namespace
}  // namespace grapevine::testing
