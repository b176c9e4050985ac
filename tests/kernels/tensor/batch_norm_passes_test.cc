// Every instruction set gives the same bits, and sums hold where naive ones fail.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/tensor/cpu/passes.h"
#include "tests/kernels/tensor/operation_cases.h"

namespace grapevine {
namespace {

const TensorFormat kFormats[] = {{{3, 32, 17, 19}, Layout::kNchw16c},
                                 {{3, 32, 17, 19}, Layout::kNhwc}};

// Runs all passes and returns everything that they write.
std::vector<std::vector<float>> RunAll(const TensorFormat& format, InstructionSet set) {
  const ChannelBlocks blocks = *BlocksOf(format);
  const int64_t size = format.size();
  const auto x = RandomValues<float>(size, 1);
  const auto shortcut = RandomValues<float>(size, 2);
  const auto dy2 = RandomValues<float>(size, 3);
  auto dy = RandomValues<float>(size, 4);
  const auto scale = RandomValues<float>(blocks.lanes(), 5);
  std::vector<float> mean(blocks.lanes()), deviation(blocks.lanes()), sum(blocks.lanes()),
      dot(blocks.lanes()), y(size), dx(size);
  ChannelMoments(blocks, x.data(), mean.data(), deviation.data(), set);
  Normalize(blocks,
            {.x = x.data(),
             .scale = scale.data(),
             .shift = mean.data(),
             .shortcut = shortcut.data(),
             .y = y.data(),
             .relu = true},
            set);
  GradientSums(
      blocks,
      {.x = x.data(), .y = y.data(), .dy = dy.data(), .dy2 = dy2.data(), .mean = mean.data()},
      sum.data(), dot.data(), set);
  InputGradient(blocks,
                {.x = x.data(),
                 .g = dy.data(),
                 .mean = mean.data(),
                 .a = scale.data(),
                 .b = sum.data(),
                 .c = dot.data(),
                 .dx = dx.data()},
                set);
  return {mean, deviation, y, dy, sum, dot, dx};
}

TEST(BatchNormPassesTest, EveryInstructionSetGivesTheSameBits) {
  for (const TensorFormat& format : kFormats) {
    const auto expected = RunAll(format, InstructionSet::kBaseline);
    for (InstructionSet set : AvailableInstructionSets()) {
      const auto actual = RunAll(format, set);
      for (size_t i = 0; i < actual.size(); ++i) {
        EXPECT_EQ(actual[i], expected[i])
            << ToString(format) << ", set " << static_cast<int>(set) << ", result " << i;
      }
    }
  }
}

TEST(BatchNormPassesTest, AMeanFarFromZeroKeepsTheVariance) {
  const TensorFormat format{{8, 16, 32, 32}, Layout::kNchw16c};
  const ChannelBlocks blocks = *BlocksOf(format);
  auto x = RandomValues<float>(format.size(), 1);
  for (float& value : x) value += 1000;
  std::vector<float> mean(16), deviation(16);
  ChannelMoments(blocks, x.data(), mean.data(), deviation.data());
  for (int64_t c = 0; c < 16; ++c) {
    double sum = 0, squares = 0;
    for (size_t i = c; i < x.size(); i += 16) sum += x[i];
    const double exact = sum / static_cast<double>(blocks.count());
    for (size_t i = c; i < x.size(); i += 16) squares += (x[i] - exact) * (x[i] - exact);
    EXPECT_NEAR(mean[c], exact, 1e-3);
    EXPECT_NEAR(deviation[c] / squares, 1, 1e-5);
  }
}

TEST(BatchNormPassesTest, LayoutsWithoutBlocksAreDeclined) {
  EXPECT_FALSE(BlocksOf({{1, 16, 2, 2}, Layout::kNchw}).has_value());
  EXPECT_FALSE(BlocksOf({{1, 6, 2, 2}, Layout::kNhwc}).has_value());
  EXPECT_TRUE(BlocksOf({{1, 6, 2, 2}, Layout::kNchw16c}).has_value());
}

}  // namespace
}  // namespace grapevine
