#include "topology/graphs/keyed_permutation.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace grapevine {
namespace {

TEST(KeyedPermutationTest, IsAPermutationWithAnInverse) {
  for (uint32_t n : {1, 2, 3, 4, 5, 8, 9, 33, 255, 256, 257, 512, 1000, 65536, 100000}) {
    for (uint64_t a = 0; a < 3; ++a) {
      const KeyedPermutation permutation(n, 42, Purpose::kMatching, a);
      std::vector<bool> seen(n, false);
      for (uint32_t value = 0; value < n; ++value) {
        const uint32_t image = permutation.Image(value);
        ASSERT_LT(image, n);
        ASSERT_FALSE(seen[image]) << n << ": " << image;
        seen[image] = true;
        ASSERT_EQ(permutation.Preimage(image), value);
      }
    }
  }
}

TEST(KeyedPermutationTest, IsTheSameOnEveryMachine) {
  const auto images = [](uint32_t n) {
    const KeyedPermutation permutation(n, 1, Purpose::kMatching, 2);
    std::vector<uint32_t> first;
    for (uint32_t value = 0; value < 4; ++value) first.push_back(permutation.Image(value));
    return first;
  };
  EXPECT_EQ(images(10), (std::vector<uint32_t>{5, 7, 2, 8}));
  EXPECT_EQ(images(1000), (std::vector<uint32_t>{39, 263, 668, 882}));
}

// All 24 permutations of four values occur evenly: chi-square with 23 degrees
// of freedom stays below its 99.9 % quantile.
TEST(KeyedPermutationTest, IsUniformOverFewValues) {
  constexpr int kDraws = 24000;
  std::map<std::vector<uint32_t>, int> counts;
  for (int draw = 0; draw < kDraws; ++draw) {
    const KeyedPermutation permutation(4, 7, Purpose::kMatching, draw);
    std::vector<uint32_t> images;
    for (uint32_t value = 0; value < 4; ++value) images.push_back(permutation.Image(value));
    ++counts[images];
  }
  ASSERT_EQ(counts.size(), 24u);
  double chi_square = 0;
  for (const auto& [images, count] : counts) {
    chi_square += (count - 1000.0) * (count - 1000.0) / 1000;
  }
  EXPECT_LT(chi_square, 49.7);
}

// The image of one value, and the distance between the images of two, over the
// fewest values that a Feistel network permutes: chi-square within five standard
// deviations of its mean.
TEST(KeyedPermutationTest, IsUniformOverManyValues) {
  constexpr uint32_t kValues = 257;
  constexpr int kDraws = 100000;
  std::vector<double> images(kValues, 0), distances(kValues, 0);
  for (int draw = 0; draw < kDraws; ++draw) {
    const KeyedPermutation permutation(kValues, 7, Purpose::kMatching, draw);
    const uint32_t zero = permutation.Image(0), one = permutation.Image(1);
    ++images[zero];
    ++distances[(one + kValues - zero) % kValues];
  }
  const auto chi_square = [](const std::vector<double>& counts, uint32_t from) {
    const double expected = static_cast<double>(kDraws) / (kValues - from);
    double sum = 0;
    for (uint32_t i = from; i < kValues; ++i) {
      sum += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    return sum;
  };
  EXPECT_NEAR(chi_square(images, 0), 256, 5 * 22.7);
  EXPECT_EQ(distances[0], 0);
  EXPECT_NEAR(chi_square(distances, 1), 255, 5 * 22.6);
}

}  // namespace
}  // namespace grapevine
