// NoLoCo against a loop over W in double precision and by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "algorithm/algorithm_kind.h"
#include "random/keyed_random.h"
#include "tests/algorithm/local_loop.h"
#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"
#include "tests/testing/weighted_graphs.h"

namespace grapevine::testing {
namespace {

LocalLoop::Exchange NoLoCo(double beta, double eta, double gamma) {
  return [=](const LocalLoop::AtExchange& at) {
    double& m = *at.momentum;
    m = beta * m + eta * (at.replica_average - at.anchor_average) +
        gamma * (at.anchor_average - at.anchor);
    return at.anchor + m;
  };
}

struct Pairing {
  std::string spec;  // without its period
  LocalLoop::Exchange exchange;
};

class NoLoCoOracle : public ::testing::TestWithParam<WeightedGraph> {};

TEST_P(NoLoCoOracle, IsALoopOverW) {
  for (const Pairing& method : {Pairing{"noloco", NoLoCo(0.5, 0.7, 0.7)},
                                {"noloco:momentum=0.3:lr=0.6:pull=0.9", NoLoCo(0.3, 0.6, 0.9)}}) {
    for (const int64_t every : {1, 4, 7}) {
      const Replicas expected = Trained({.nodes = WeightedGraph::kNodes,
                                         .every = every,
                                         .w = GetParam().w,
                                         .exchange = method.exchange});
      for (const int window : {1, 3}) {
        ClusterOptions options =
            LikeLoop(method.spec + ":every=" + std::to_string(every), WeightedGraph::kNodes);
        options.topology = GetParam().topology;
        options.mixing = GetParam().mixing;
        options.window = window;
        options.order_seed = 100 * window + every;
        ExpectReplicas(options, expected, 1e-4);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, NoLoCoOracle, ::testing::ValuesIn(WeightedGraphs()),
                         [](const auto& info) { return info.param.name; });

TEST(NoLoCo, OfOneNodeIsItsOuterOptimizer) {
  const Replicas expected = Trained({.nodes = 1,
                                     .every = 3,
                                     .w = [](int64_t) { return UniformWeights(1); },
                                     .exchange = NoLoCo(0.5, 0.7, 0.7)});
  ExpectReplicas(LikeLoop("noloco:every=3", 1), expected, 1e-4);
}

// A pair that begins at 0 and 4, with gradients 1 and 3, a rate of 1 and one step: p = -1 and 1,
// avg(p - a) = -2, avg(a) = 2.
TEST(NoLoCo, IsWhatItsFormulaSaysByHand) {
  Cluster cluster(
      {.algorithm = "noloco:every=1:momentum=0.5:lr=0.5:pull=0.25",
       .nodes = 2,
       .learning_rate = 1,
       .initial = [](Rank rank, std::span<float> x) { x[0] = rank == 0 ? 0 : 4; },
       .gradient = [](Rank rank, Round, std::span<const float>,
                      std::span<float> gradient) { gradient[0] = rank == 0 ? 1.0f : 3.0f; }});
  ASSERT_TRUE(cluster.Run(1).ok());
  // m = 0.5 (-2) + 0.25 (2 - 0) = -0.5, and 0.5 (-2) + 0.25 (2 - 4) = -1.5.
  EXPECT_EQ(cluster.replica(0)[0], -0.5);
  EXPECT_EQ(cluster.replica(1)[0], 2.5);
  ASSERT_TRUE(cluster.Run(2).ok());
  // avg(a) = 1: m = 0.5 (-0.5) - 1 + 0.25 (1 + 0.5), and 0.5 (-1.5) - 1 + 0.25 (1 - 2.5).
  EXPECT_EQ(cluster.replica(0)[0], -0.5 - 0.875);
  EXPECT_EQ(cluster.replica(1)[0], 2.5 - 2.125);
}

// Without gradients, and with random pairs: the pulls of a pair are opposite.
TEST(NoLoCo, KeepsTheMeanAndBringsNodesTogether) {
  for (const Rank nodes : {2, 3, 5, 8}) {
    ClusterOptions options = LikeLoop("noloco:every=2", nodes);
    options.topology = "random-matching";
    options.learning_rate = 0;
    options.buffers = 0;
    Cluster cluster(options);
    ASSERT_TRUE(cluster.Run(0).ok());
    const std::vector<double> before = cluster.Mean();
    EXPECT_GT(cluster.ConsensusDistance(), 0.1);
    ASSERT_TRUE(cluster.Run(400).ok());
    const std::vector<double> after = cluster.Mean();
    for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-5);
    EXPECT_LT(cluster.ConsensusDistance(), 1e-6) << nodes;
  }
}

// Statistics between 1 and 2, under outer steps that overshoot.
TEST(NoLoCo, OnlyAveragesBuffers) {
  ClusterOptions options = LikeLoop("noloco:every=2:lr=1.9:momentum=0.9", 4);
  options.initial = [](Rank, std::span<float> x) { std::ranges::fill(x, 1.0f); };
  options.gradient = [](Rank rank, Round round, std::span<const float>, std::span<float> out) {
    KeyedRandom random(3, Purpose::kGradientNoise, rank, round);
    for (float& value : out) value = static_cast<float>(1 + random.Unit());
  };
  options.at_boundary = [&](Rank rank, Round completed, std::span<const float> model) {
    for (const float buffer : model.subspan(LocalLoop::kParameters)) {
      EXPECT_GE(buffer, 0.999f) << "rank " << rank << ", round " << completed;
      EXPECT_LE(buffer, 2.001f) << "rank " << rank << ", round " << completed;
    }
  };
  Cluster cluster(options);
  ASSERT_TRUE(cluster.Run(LocalLoop::kRounds).ok());
}

TEST(NoLoCo, RefusesARateOfZero) {
  const auto mixing = *MakeMixing("metropolis", *MakeTopology("ring", 4, 1));
  const auto made = MakeAlgorithm("noloco:lr=0:every=2", {.mixing = mixing});
  EXPECT_THAT(std::string(made.status().message()), ::testing::HasSubstr("option lr"));
}

}  // namespace
}  // namespace grapevine::testing
