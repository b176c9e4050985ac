// D-PSGD against a loop over W in double precision, on graphs of unequal degree and with
// weights that are not the default.
#include <gtest/gtest.h>

#include <vector>

#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"
#include "tests/testing/dpsgd_loop.h"
#include "tests/testing/weighted_graphs.h"

namespace grapevine::testing {
namespace {

constexpr Rank kNodes = WeightedGraph::kNodes;
constexpr Round kRounds = 30;
constexpr int64_t kParameters = 19;
constexpr double kRate = 0.05;
constexpr double kMomentum = 0.9;

Replicas Expected(const WeightedGraph& graph, bool atc) {
  Replicas start, optima;
  for (Rank rank = 0; rank < kNodes; ++rank) {
    std::vector<float> x(kParameters);
    RandomStart(rank, x);
    start.emplace_back(x.begin(), x.end());
    optima.emplace_back(kParameters, UnlikeOptimum(rank));
  }
  return After(
      kRounds,
      {.w = graph.w, .atc = atc, .learning_rate = kRate, .momentum = kMomentum, .optima = optima},
      start);
}

class DpsgdOracle : public ::testing::TestWithParam<WeightedGraph> {};

TEST_P(DpsgdOracle, IsALoopOverW) {
  for (const bool atc : {false, true}) {
    const Replicas expected = Expected(GetParam(), atc);
    for (const int window : {1, 2, 4}) {
      Cluster cluster({.algorithm = atc ? "dpsgd:order=atc" : "dpsgd",
                       .topology = GetParam().topology,
                       .mixing = GetParam().mixing,
                       .nodes = kNodes,
                       .parameters = kParameters,
                       .learning_rate = kRate,
                       .momentum = kMomentum,
                       .window = window,
                       .order_seed = static_cast<uint64_t>(window),
                       .initial = RandomStart,
                       .gradient = Quadratic(1, 0, 1, UnlikeOptimum)});
      ASSERT_TRUE(cluster.Run(kRounds).ok());
      for (Rank rank = 0; rank < kNodes; ++rank) {
        for (int64_t e = 0; e < kParameters; ++e) {
          EXPECT_NEAR(cluster.replica(rank)[e], expected[rank][e], 2e-6)
              << (atc ? "atc" : "awc") << ", window " << window << ", rank " << rank;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, DpsgdOracle, ::testing::ValuesIn(WeightedGraphs()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace grapevine::testing
