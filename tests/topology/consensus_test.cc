// Rounds to consensus, and weights that are fitted to have few of them.
#include "topology/spectrum/consensus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "topology/spectrum/spectrum.h"
#include "topology/topology.h"
#include "topology/weights/fitted_weights.h"

namespace grapevine {
namespace {

std::shared_ptr<const Mixing> Metropolis(const std::string& spec, Rank n) {
  return *MakeMixing("metropolis", *MakeTopology(spec, n, 1));
}

WeightedRound RingOf(Rank n) {
  WeightedRound ring;
  for (Rank rank = 0; rank + 1 < n; ++rank) ring.push_back({rank, rank + 1, 0});
  ring.push_back({0, n - 1, 0});
  SetMetropolis(n, &ring);
  return ring;
}

TEST(RoundsToConsensus, FollowFromRhoOfAFixedGraph) {
  for (const char* spec : {"ring", "path", "star", "torus", "small-world"}) {
    const auto mixing = Metropolis(spec, 12);
    const double rho = RoundSpectrum(*mixing, 0)->rho;
    EXPECT_EQ(RoundsToConsensus(*mixing, 1e-3, 10'000),
              static_cast<Round>(std::ceil(std::log(1e-3) / std::log(rho))))
        << spec;
  }
  EXPECT_EQ(RoundsToConsensus(*Metropolis("complete", 12), 1e-3, 1), 1);
  EXPECT_EQ(RoundsToConsensus(*Metropolis("ring", 12), 1e-3, 10), std::nullopt);
}

// Worst cases of random replicas come close to it, and none is worse.
TEST(RoundsToConsensus, BoundWhatAnyReplicasNeed) {
  const auto mixing = Metropolis("exponential", 11);
  const Round rounds = *RoundsToConsensus(*mixing, 1e-3, 1000);
  // The slowest eigenvector of a circulant matrix: exact, as they are orthogonal.
  const double rho = RoundSpectrum(*mixing, 0)->rho;
  EXPECT_LE(std::pow(rho, rounds), 1e-3);
  EXPECT_GT(std::pow(rho, rounds - 1), 1e-3);
}

TEST(RoundsToConsensus, AreThoseOfAScheduleThatAveragesExactly) {
  EXPECT_EQ(RoundsToConsensus(*Metropolis("one-peer-exponential", 16), 1e-3, 100), 4);
  EXPECT_EQ(RoundsToConsensus(*Metropolis("one-peer-exponential", 16), 1e-12, 100), 4);
}

// Two nodes that swap for ever.
TEST(RoundsToConsensus, AreNoneWhereWeightsNeverAgree) {
  EXPECT_EQ(RoundsToConsensus(*MakeWeighted("swap", 2, {{{0, 1, 1}}}), 1e-3, 1000), std::nullopt);
}

TEST(FittedWeights, AreThoseOfMetropolisToBeginWith) {
  const auto weighted = MakeWeighted("ring", 7, {RingOf(7)});
  const auto metropolis = Metropolis("ring", 7);
  for (Rank rank = 0; rank < 7; ++rank) {
    MixingRow ours, theirs;
    weighted->Row(rank, 0, &ours);
    metropolis->Row(rank, 0, &theirs);
    EXPECT_NEAR(ours.self, theirs.self, 1e-15);
    ASSERT_EQ(ours.in.size(), theirs.in.size());
    for (size_t i = 0; i < ours.in.size(); ++i) {
      EXPECT_EQ(ours.in[i].rank, theirs.in[i].rank);
      EXPECT_NEAR(ours.in[i].weight, theirs.in[i].weight, 1e-15);
    }
  }
}

// The best constant weight on a cycle is 2/(lambda_2 + lambda_n) of its Laplacian (Xiao and Boyd
// 2004, section 4.1), and by symmetry it is the best of all.
TEST(FittedWeights, TendToTheFastestMixingOnesOfACycle) {
  constexpr Rank kNodes = 8;
  const double second = 2 - 2 * std::cos(2 * std::acos(-1.0) / kNodes), last = 4;
  const double optimal = (last - second) / (last + second);
  const auto fitted = FitWeights(kNodes, {RingOf(kNodes)}, {.horizon = 64, .steps = 400});
  const auto mixing = MakeWeighted("fitted", kNodes, fitted);
  EXPECT_NEAR(RoundSpectrum(*mixing, 0)->rho, optimal, 0.01);
  EXPECT_GT(RoundSpectrum(*Metropolis("ring", kNodes), 0)->rho, optimal + 0.02);
}

TEST(FittedWeights, AreFeasibleAndNeverWorse) {
  for (const char* spec : {"small-world", "star", "random:d=3", "erdos-renyi"}) {
    SCOPED_TRACE(spec);
    constexpr Rank kNodes = 10;
    const auto graph = *MakeTopology(spec, kNodes, 3);
    WeightedRound round;
    std::vector<Rank> neighbours;
    for (Rank rank = 0; rank < kNodes; ++rank) {
      graph->InNeighbours(rank, 0, &neighbours);
      for (const Rank other : neighbours) {
        if (rank < other) round.push_back({rank, other, 0});
      }
    }
    SetMetropolis(kNodes, &round);
    const double before = Disagreement(kNodes, {round}, 9);
    const auto fitted = FitWeights(kNodes, {round}, {.horizon = 9});
    EXPECT_LT(Disagreement(kNodes, fitted, 9), before);
    const auto mixing = MakeWeighted("fitted", kNodes, fitted);
    MixingRow row;
    for (Rank rank = 0; rank < kNodes; ++rank) {
      mixing->Row(rank, 0, &row);
      double sum = row.self;
      EXPECT_GE(row.self, 0);
      for (const auto& [from, weight] : row.in) {
        EXPECT_GE(weight, 0);
        sum += weight;
      }
      EXPECT_NEAR(sum, 1, 1e-12);
    }
  }
}

// What no weights on either graph alone can do: the two rounds of a hypercube average exactly.
TEST(FittedWeights, FindAnExactSchedule) {
  const std::vector<WeightedRound> begin = {{{0, 1, 0.3}, {2, 3, 0.4}},
                                            {{0, 2, 0.35}, {1, 3, 0.2}}};
  EXPECT_GT(Disagreement(4, begin, 2), 0.1);
  const auto fitted = FitWeights(4, begin, {.horizon = 2, .steps = 400});
  EXPECT_LT(Disagreement(4, fitted, 2), 1e-3);
}

}  // namespace
}  // namespace grapevine
