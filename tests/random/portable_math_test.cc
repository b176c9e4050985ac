#include "random/portable_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kDraws = 400000;

double RelativeError(double value, double exact) {
  return exact == 0 ? std::abs(value) : std::abs(value / exact - 1);
}

// Against the C library's, whose error is a tenth of the promised one.
TEST(PortableLog, IsWithinItsErrorOfTheCLibrary) {
  KeyedRandom random(3, Purpose::kTopology);
  double worst = 0;
  for (int i = 0; i < kDraws; ++i) {
    // All magnitudes, those near 1 and those in (0, 1] that distributions ask for.
    const double any = std::ldexp(1 + random.Unit(), static_cast<int>(random.Below(2000)) - 1000);
    const double near_one = 1 + (random.Unit() - 0.5) * std::ldexp(1.0, -int(random.Below(40)));
    const double unit = 1 - random.Unit();
    for (double x : {any, near_one, unit}) {
      worst = std::max(worst, RelativeError(PortableLog(x), std::log(x)));
    }
  }
  EXPECT_LT(worst, 1e-15);
}

TEST(PortableLog, KnowsItsEnds) {
  EXPECT_EQ(PortableLog(1), 0);
  EXPECT_EQ(PortableLog(0), -kInfinity);
  EXPECT_EQ(PortableLog(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(PortableLog(-1)));
  EXPECT_TRUE(std::isnan(PortableLog(std::nan(""))));
  const double smallest = std::numeric_limits<double>::denorm_min();
  EXPECT_NEAR(PortableLog(smallest) / std::log(smallest), 1, 1e-15);
}

TEST(PortableExp, IsWithinItsErrorOfTheCLibrary) {
  KeyedRandom random(4, Purpose::kTopology);
  double worst = 0;
  for (int i = 0; i < kDraws; ++i) {
    for (double x : {1400 * random.Unit() - 700, 4 * random.Unit() - 2, random.Unit() * 1e-6}) {
      worst = std::max(worst, RelativeError(PortableExp(x), std::exp(x)));
    }
  }
  EXPECT_LT(worst, 1e-15);
}

TEST(PortableExp, KnowsItsEnds) {
  EXPECT_EQ(PortableExp(0), 1);
  EXPECT_EQ(PortableExp(710), kInfinity);
  EXPECT_EQ(PortableExp(kInfinity), kInfinity);
  EXPECT_EQ(PortableExp(-746), 0);
  EXPECT_EQ(PortableExp(-kInfinity), 0);
  EXPECT_TRUE(std::isnan(PortableExp(std::nan(""))));
  EXPECT_NEAR(PortableExp(709.7) / std::exp(709.7), 1, 1e-15);
  // No normal number any more: absolutely within one step.
  EXPECT_NEAR(PortableExp(-740), std::exp(-740), 2 * std::numeric_limits<double>::denorm_min());
}

TEST(PortablePow, KeepsItsWiderError) {
  KeyedRandom random(5, Purpose::kTopology);
  for (int i = 0; i < 10000; ++i) {
    const double base = 1 - random.Unit();
    const double exponent = 10 * random.Unit() - 5;
    const double bound = 1e-15 * (1 + std::abs(exponent * std::log(base)));
    EXPECT_LT(RelativeError(PortablePow(base, exponent), std::pow(base, exponent)), bound);
  }
  EXPECT_EQ(PortablePow(0, 2), 0);
  EXPECT_EQ(PortablePow(0, 0), 1);
}

// Golden bits: drawn times and noise depend on them.
TEST(PortableMath, IsPinnedToTheBit) {
  const auto bits = [](double value) { return std::bit_cast<uint64_t>(value); };
  EXPECT_EQ(bits(PortableLog(10)), bits(0x1.26bb1bbb55516p+1));
  EXPECT_EQ(bits(PortableLog(0.1)), bits(-0x1.26bb1bbb55515p+1));
  EXPECT_EQ(bits(PortableExp(1)), bits(0x1.5bf0a8b14576ap+1));
  EXPECT_EQ(bits(PortableExp(-0.3)), bits(0x1.7b4c869c37c05p-1));
}

}  // namespace
}  // namespace grapevine
