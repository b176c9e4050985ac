#include "random/keyed_random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace grapevine {
namespace {

// The first words of a key: a change here changes every run of every user.
TEST(KeyedRandom, TheStreamIsPinned) {
  KeyedRandom random(1, Purpose::kTopology, 2, 3);
  const uint64_t first = random.Next();
  EXPECT_EQ(first, Mix(1, Purpose::kTopology, 2, 3, 0));
  EXPECT_EQ(random.Next(), Mix(1, Purpose::kTopology, 2, 3, 1));
  EXPECT_EQ(first, KeyedRandom(1, Purpose::kTopology, 2, 3).Next());
}

TEST(KeyedRandom, EveryPartOfTheKeyMatters) {
  std::set<uint64_t> first;
  for (uint64_t seed : {0, 1}) {
    for (Purpose purpose : {Purpose::kTopology, Purpose::kShuffle}) {
      for (uint64_t a : {0, 1}) {
        for (uint64_t b : {0, 1}) first.insert(KeyedRandom(seed, purpose, a, b).Next());
      }
    }
  }
  EXPECT_EQ(first.size(), 16u);
}

TEST(KeyedRandom, BelowIsUniform) {
  constexpr int kBins = 7;
  constexpr int kDraws = 70000;
  KeyedRandom random(5, Purpose::kShuffle);
  std::vector<double> counts(kBins);
  for (int i = 0; i < kDraws; ++i) ++counts[random.Below(kBins)];
  double chi_square = 0;
  for (double count : counts) {
    chi_square += (count - kDraws / kBins) * (count - kDraws / kBins) / (kDraws / kBins);
  }
  EXPECT_LT(chi_square, 22.5) << "6 degrees of freedom, p = 0.001";
}

struct Moments {
  double mean = 0, variance = 0;
};

template <typename Draw>
Moments MomentsOf(Draw draw) {
  constexpr int kDraws = 200000;
  Moments moments;
  std::vector<double> values(kDraws);
  for (double& value : values) value = draw();
  moments.mean = std::accumulate(values.begin(), values.end(), 0.0) / kDraws;
  for (double value : values) {
    moments.variance += (value - moments.mean) * (value - moments.mean) / kDraws;
  }
  return moments;
}

TEST(KeyedRandom, DistributionsHaveTheirMoments) {
  KeyedRandom random(9, Purpose::kGradientNoise);
  const Moments unit = MomentsOf([&] { return random.Unit(); });
  EXPECT_NEAR(unit.mean, 0.5, 0.003);
  EXPECT_NEAR(unit.variance, 1.0 / 12, 0.002);
  const Moments normal = MomentsOf([&] { return random.Normal(); });
  EXPECT_NEAR(normal.mean, 0, 0.01);
  EXPECT_NEAR(normal.variance, 1, 0.015);
  for (double shape : {0.1, 1.0, 4.0}) {
    const Moments gamma = MomentsOf([&] { return random.Gamma(shape); });
    EXPECT_NEAR(gamma.mean / shape, 1, 0.03) << shape;
    EXPECT_NEAR(gamma.variance / shape, 1, 0.08) << shape;
  }
}

// To the bit, on every machine: starting replicas and drawn times depend on them.
TEST(KeyedRandom, DistributionsArePinned) {
  KeyedRandom random(9, Purpose::kGradientNoise);
  EXPECT_EQ(random.Normal(), -0x1.678a502fa4985p-2);
  EXPECT_EQ(random.Normal(), -0x1.35b435b2f40d3p+0);
  EXPECT_EQ(random.Gamma(0.4), 0x1.70fedd763359cp+1);
}

TEST(KeyedRandom, ShuffleReachesEveryOrderAlike) {
  std::vector<int> counts(6);
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    int order[] = {0, 1, 2};
    KeyedRandom(seed, Purpose::kShuffle).Shuffle(std::span<int>(order));
    const int index = 2 * order[0] + (order[1] > order[2] ? 1 : 0);
    ++counts[index];
  }
  for (int count : counts) EXPECT_NEAR(count, 1000, 120);
}

}  // namespace
}  // namespace grapevine
