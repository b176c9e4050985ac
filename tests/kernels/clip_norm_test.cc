
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/vector/norms.h"
#include "tests/kernels/noise.h"

namespace grapevine {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> Clipped(std::vector<float> vector, double limit,
                           InstructionSet set = BestInstructionSet()) {
  ClipNorm(vector.data(), static_cast<int64_t>(vector.size()), limit, set);
  return vector;
}

TEST(ClipNormTest, AVectorWithinTheLimitIsLeftAlone) {
  EXPECT_EQ(Clipped({3, 4}, 5), (std::vector<float>{3, 4}));
  EXPECT_EQ(Clipped({0, 0}, 1), (std::vector<float>{0, 0}));
  EXPECT_EQ(Clipped({}, 1), std::vector<float>());
}

TEST(ClipNormTest, ALongerOneKeepsItsDirection) {
  EXPECT_EQ(Clipped({3, 4}, 2.5), (std::vector<float>{1.5, 2}));
  for (const int64_t size : {1, 255, 4097, 1'000'003}) {
    const std::vector<float> before = Noise(size), after = Clipped(before, 0.5);
    EXPECT_NEAR(std::sqrt(SquaredNorm(after.data(), size)), 0.5, 1e-6) << size;
    EXPECT_NEAR(after[0] / before[0], after.back() / before.back(), 1e-6) << size;
  }
}

TEST(ClipNormTest, EveryInstructionSetHasTheSameBits) {
  const std::vector<float> vector = Noise(100'003);
  for (const InstructionSet set : AvailableInstructionSets()) {
    EXPECT_EQ(Clipped(vector, 1, set), Clipped(vector, 1, InstructionSet::kBaseline));
  }
}

// The largest floats have squares that a double holds.
TEST(ClipNormTest, TheNormDoesNotOverflow) {
  const float largest = std::numeric_limits<float>::max();
  EXPECT_NEAR(Clipped({largest, 0}, 1)[0], 1, 1e-6);
}

TEST(ClipNormTest, WhatHasDivergedStaysSo) {
  const std::vector<float> infinite = Clipped({kInfinity, 1}, 1);
  EXPECT_TRUE(std::isnan(infinite[0]));
  EXPECT_EQ(infinite[1], 0);
  EXPECT_TRUE(std::isnan(Clipped({std::nanf(""), 9}, 1)[0]));
}

}  // namespace
}  // namespace grapevine
