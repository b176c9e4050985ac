// Model averaging, SlowMo and DiLoCo: against a loop over the replicas in double precision and by
// hand, and what holds of them in any order of events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "algorithm/algorithm_kind.h"
#include "random/keyed_random.h"
#include "tests/algorithm/local_loop.h"
#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"
#include "tests/testing/seeds.h"

namespace grapevine::testing {
namespace {

using ::testing::HasSubstr;
using Exchange = LocalLoop::Exchange;
using AtExchange = LocalLoop::AtExchange;

constexpr Round kRounds = LocalLoop::kRounds;
constexpr double kRate = LocalLoop::kRate;

double PlainAverage(const AtExchange& at) { return at.replica_average; }

Exchange SlowMo(double beta, double alpha) {
  return [=](const AtExchange& at) {
    double& u = *at.momentum;
    u = beta * u + (at.anchor - at.replica_average) / kRate;
    return at.anchor - alpha * kRate * u;
  };
}

Exchange DiLoCo(double beta, double eta) {
  return [=](const AtExchange& at) {
    const double delta = at.anchor - at.replica_average;
    *at.momentum = beta * *at.momentum + delta;
    return at.anchor - eta * (delta + beta * *at.momentum);
  };
}

struct Method {
  std::string spec;  // without its period
  Exchange exchange;
};

class ExactAverages : public ::testing::TestWithParam<Rank> {};

TEST_P(ExactAverages, AreALoopOverTheReplicas) {
  const Rank nodes = GetParam();
  for (const Method& method : {Method{"average", PlainAverage},
                               {"average:double-tree", PlainAverage},
                               {"slowmo", SlowMo(0.7, 1)},
                               {"slowmo:momentum=0.4:lr=0.6", SlowMo(0.4, 0.6)},
                               {"diloco", DiLoCo(0.9, 0.7)},
                               {"diloco:momentum=0.5:lr=1", DiLoCo(0.5, 1)}}) {
    for (const int64_t every : {1, 4, 7}) {
      const Replicas expected = Trained({.nodes = nodes,
                                         .every = every,
                                         .w = [&](int64_t) { return UniformWeights(nodes); },
                                         .exchange = method.exchange});
      ClusterOptions options = LikeLoop(method.spec + ":every=" + std::to_string(every), nodes);
      options.order_seed = 100 * nodes + every;
      ExpectReplicas(options, expected, 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Nodes, ExactAverages, ::testing::Values(1, 2, 3, 5, 8));

// Two nodes with the gradients 1 and 3 everywhere, a rate of 1, two local steps: they go from 0 to
// -2 and -6, whose mean is -4.
TEST(ExactAverages, AreWhatTheFormulasSayByHand) {
  const auto after = [](const std::string& algorithm, Round rounds) {
    Cluster cluster(
        {.algorithm = algorithm,
         .nodes = 2,
         .learning_rate = 1,
         .gradient = [](Rank rank, Round, std::span<const float>, std::span<float> gradient) {
           gradient[0] = rank == 0 ? 1.0f : 3.0f;
         }});
    EXPECT_TRUE(cluster.Run(rounds).ok());
    EXPECT_EQ(cluster.replica(0)[0], cluster.replica(1)[0]);
    return cluster.replica(0)[0];
  };
  EXPECT_EQ(after("average:every=2", 2), -4);
  EXPECT_EQ(after("average:every=2", 4), -8);
  // u = 4, x = -0.5 * 4; u = 0.25 * 4 + 4, x = -2 - 0.5 * 5.
  EXPECT_EQ(after("slowmo:every=2:momentum=0.25:lr=0.5", 2), -2);
  EXPECT_EQ(after("slowmo:every=2:momentum=0.25:lr=0.5", 4), -4.5);
  // m = 4, x = -0.5 (4 + 0.25 * 4); m = 0.25 * 4 + 4, x = -2.5 - 0.5 (4 + 0.25 * 5).
  EXPECT_EQ(after("diloco:every=2:momentum=0.25:lr=0.5", 2), -2.5);
  EXPECT_EQ(after("diloco:every=2:momentum=0.25:lr=0.5", 4), -5.125);
}

// Draws methods, periods, sizes and orders of events.
TEST(ExactAveragesProperty, ReplicasAreBitEqualAfterEachAndOnlyThen) {
  for (const uint64_t seed : Seeds(40)) {
    KeyedRandom random(seed, Purpose::kShuffle);
    const char* const methods[] = {"average", "average:halving-doubling", "slowmo", "diloco"};
    const int64_t every = 2 + static_cast<int64_t>(random.Below(5));
    ClusterOptions options =
        LikeLoop(methods[random.Below(4)], 2 + static_cast<Rank>(random.Below(8)));
    options.algorithm += ":every=" + std::to_string(every);
    options.order_seed = seed;
    options.initial = EqualStart;
    std::vector<std::vector<std::vector<float>>> models(kRounds + 1);
    options.at_boundary = [&](Rank, Round completed, std::span<const float> model) {
      models[completed].emplace_back(model.begin(), model.end());
    };
    Cluster cluster(options);
    ASSERT_TRUE(cluster.Run(kRounds).ok()) << "seed " << seed;
    for (Round completed = 1; completed <= kRounds; ++completed) {
      const auto& of_round = models[completed];
      const bool equal = std::ranges::all_of(
          of_round, [&](const auto& model) { return model == of_round.front(); });
      EXPECT_EQ(equal, completed % every == 0)
          << "seed " << seed << ": " << options.algorithm << " of " << options.nodes << ", round "
          << completed;
    }
  }
}

// The mean of the momenta is the momentum of the mean.
TEST(ModelAveraging, OfEveryRoundIsAllreduceSgd) {
  for (const Rank nodes : {2, 5}) {
    ClusterOptions options = LikeLoop("average:every=1", nodes);
    options.initial = EqualStart;
    Cluster averaged(options);
    options.algorithm = "allreduce";
    Cluster summed(options);
    ASSERT_TRUE(averaged.Run(kRounds).ok());
    ASSERT_TRUE(summed.Run(kRounds).ok());
    EXPECT_THAT(averaged.replica(0),
                ::testing::Pointwise(::testing::FloatNear(1e-5f), summed.replica(0)));
  }
}

TEST(ModelAveraging, KeepsTheMean) {
  for (const Rank nodes : {2, 3, 5, 8}) {
    ClusterOptions options = LikeLoop("average:every=3", nodes);
    options.learning_rate = 0;
    options.buffers = 0;
    Cluster cluster(options);
    ASSERT_TRUE(cluster.Run(0).ok());
    const std::vector<double> before = cluster.Mean();
    EXPECT_GT(cluster.ConsensusDistance(), 0.1);
    ASSERT_TRUE(cluster.Run(24).ok());
    const std::vector<double> after = cluster.Mean();
    for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-6);
  }
}

// At the end that was planned, whatever limits came before it.
TEST(ModelAveraging, OnceIsAtThePlannedEnd) {
  Cluster cluster(LikeLoop("average:once", 4));
  for (const Round limit : {Round{5}, kRounds - 1}) {
    ASSERT_TRUE(cluster.Run(limit).ok());
    EXPECT_GT(cluster.ConsensusDistance(), 0.01) << limit;
  }
  ASSERT_TRUE(cluster.Run(kRounds).ok());
  EXPECT_EQ(cluster.ConsensusDistance(), 0);
}

// Statistics between 1 and 2, under outer steps that overshoot.
TEST(OuterOptimizers, OnlyAverageBuffers) {
  for (const char* algorithm :
       {"diloco:every=2:lr=1.9:momentum=0.99", "slowmo:every=2:lr=3:momentum=0.99"}) {
    ClusterOptions options = LikeLoop(algorithm, 4);
    options.initial = [](Rank, std::span<float> x) { std::ranges::fill(x, 1.0f); };
    options.gradient = [](Rank rank, Round round, std::span<const float>, std::span<float> out) {
      KeyedRandom random(3, Purpose::kGradientNoise, rank, round);
      for (float& value : out) value = static_cast<float>(1 + random.Unit());
    };
    options.at_boundary = [&](Rank rank, Round completed, std::span<const float> model) {
      for (const float buffer : model.subspan(LocalLoop::kParameters)) {
        EXPECT_GE(buffer, 0.999f) << algorithm << ", rank " << rank << ", round " << completed;
        EXPECT_LE(buffer, 2.001f) << algorithm << ", rank " << rank << ", round " << completed;
      }
    };
    Cluster cluster(options);
    ASSERT_TRUE(cluster.Run(kRounds).ok());
  }
}

// The rate of the last rounds may be 0, by which SlowMo would divide.
TEST(SlowMo, StandsStillWhereTheRateIsZero) {
  ClusterOptions options = LikeLoop("slowmo:every=3", 3);
  options.make_algorithm = [](AlgorithmOptions at) {
    at.learning_rate = [](Round round) { return round < 12 ? kRate : 0.0; };
    return *MakeAlgorithm("slowmo:every=3", at);
  };
  options.buffers = 0;
  Cluster cluster(options);
  ASSERT_TRUE(cluster.Run(12).ok());
  const std::vector<double> before = cluster.Mean();
  ASSERT_TRUE(cluster.Run(24).ok());
  for (size_t e = 0; e < before.size(); ++e) EXPECT_NEAR(cluster.Mean()[e], before[e], 1e-6);
}

// Local momentum and outer momentum in series: with both at 0.9 and few local steps between, small
// rates already grow without bound; docs/algorithms.md says so. It is the formula, not its carrying
// out: the loop in double precision does the same.
TEST(DiLoCo, TwoMomentaInSeriesNeedManyLocalSteps) {
  const auto distance = [](const std::string& algorithm, double momentum) {
    ClusterOptions options = LikeLoop(algorithm, 4);
    options.buffers = 0;
    options.length = {};
    options.momentum = momentum;
    options.gradient = Quadratic(1, 0, 1);
    Cluster cluster(options);
    EXPECT_TRUE(cluster.Run(400).ok());
    return std::abs(cluster.Mean()[0]);
  };
  EXPECT_GT(distance("diloco:every=2", 0.9), 1e3);
  EXPECT_LT(distance("diloco:every=2", 0), 1e-2);
  EXPECT_LT(distance("diloco:every=8", 0.9), 1e-2);
  EXPECT_LT(distance("diloco:every=50", 0.9), 1e-2);
  EXPECT_LT(distance("diloco:every=2:momentum=0.5", 0.9), 1e-2);
}

TEST(AveragingSpecs, OfNoUseAreRefused) {
  const auto mixing = *MakeMixing("metropolis", *MakeTopology("ring", 4, 1));
  const auto error = [&](const char* spec, const RunLength& length = {.rounds = 40}) {
    const auto made = MakeAlgorithm(spec, {.mixing = mixing, .length = length});
    return std::string(made.status().message());
  };
  EXPECT_THAT(error("diloco"), HasSubstr("take every=40 or less"));
  EXPECT_THAT(error("average:epoch"), HasSubstr("without a data set there are no epochs"));
  EXPECT_THAT(error("average:bush"), HasSubstr("unknown allreduce 'bush'"));
  EXPECT_THAT(error("average:hierarchical:groups=3"), HasSubstr("groups=2"));
  EXPECT_THAT(error("average:momentum=0.5"), HasSubstr("unknown option 'momentum'"));
  EXPECT_THAT(error("slowmo:momentum=2"), HasSubstr("2 is more than 1"));
  EXPECT_EQ(error("average:once:tree"), "");
  EXPECT_EQ(error("average:epoch", {.rounds = 40, .rounds_per_epoch = 7}), "");
}

}  // namespace
}  // namespace grapevine::testing
