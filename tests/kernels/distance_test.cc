#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/passes/ordered_sum.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

std::vector<float> Noise(uint64_t stream, int64_t size) {
  KeyedRandom random(/*seed=*/3, Purpose::kGradientNoise, stream);
  std::vector<float> values(static_cast<size_t>(size));
  for (float& value : values) value = static_cast<float>(random.Normal());
  return values;
}

TEST(DistanceTest, AgreesWithThePlainSum) {
  for (int64_t size : {0, 1, 3, 63, 64, 65, 255, 256, 257, 4096, 4097, 1'000'003}) {
    const std::vector<float> a = Noise(1, size), b = Noise(2, size);
    long double expected = 0;
    for (int64_t i = 0; i < size; ++i) {
      expected += (static_cast<long double>(a[i]) - b[i]) * (static_cast<long double>(a[i]) - b[i]);
    }
    EXPECT_NEAR(SquaredDistance(a.data(), b.data(), size), static_cast<double>(expected),
                1e-13 * static_cast<double>(expected))
        << size;
  }
}

TEST(DistanceTest, KeepsTinyDifferencesOfLargeValues) {
  const std::vector<float> a(1000, 1e4f);
  const std::vector<float> b(1000, std::nextafter(1e4f, 2e4f));
  const double step = static_cast<double>(b[0]) - a[0];
  EXPECT_DOUBLE_EQ(SquaredDistance(a.data(), b.data(), 1000), 1000 * step * step);
}

TEST(DistanceTest, EveryInstructionSetGivesTheSameBits) {
  const std::vector<float> a = Noise(1, 10'007), b = Noise(2, 10'007);
  const double baseline = SquaredDistance(a.data(), b.data(), 10'007, InstructionSet::kBaseline);
  for (InstructionSet set : AvailableInstructionSets()) {
    EXPECT_EQ(SquaredDistance(a.data(), b.data(), 10'007, set), baseline);
  }
}

TEST(DistanceTest, PassesNonNumbersOn) {
  std::vector<float> a(1000, 1), b(1000, 2);
  a[500] = INFINITY;
  EXPECT_EQ(SquaredDistance(a.data(), b.data(), 1000), INFINITY);
  b[500] = INFINITY;
  EXPECT_TRUE(std::isnan(SquaredDistance(a.data(), b.data(), 1000)));
  a[500] = NAN;
  EXPECT_TRUE(std::isnan(SquaredDistance(a.data(), b.data(), 1000)));
}

}  // namespace
}  // namespace grapevine
