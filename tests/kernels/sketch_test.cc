#include "kernels/passes/sketch.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/noise.h"

namespace grapevine {
namespace {

double SquaredNorm(const auto& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

struct Moments {
  double mean = 0;
  double deviation = 0;
};

// |S x|^2 / |x|^2 over many projections.
Moments RelativeNorm(const std::vector<float>& x) {
  constexpr int kSeeds = 2000;
  double sum = 0, squares = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Sketch sketch = SketchOf(x.data(), static_cast<int64_t>(x.size()), seed);
    const double ratio = SquaredNorm(sketch) / SquaredNorm(x);
    sum += ratio;
    squares += ratio * ratio;
  }
  const double mean = sum / kSeeds;
  return {mean, std::sqrt(squares / kSeeds - mean * mean)};
}

TEST(SketchTest, KeepsTheNormOfNoise) {
  const Moments moments = RelativeNorm(Noise(5000));
  EXPECT_NEAR(moments.mean, 1, 0.01);
  EXPECT_NEAR(moments.deviation, std::sqrt(2.0 / kSketchSize), 0.01);
}

// All the weight on elements that a plain "i mod 256" would put in one bucket.
TEST(SketchTest, KeepsTheNormOfStructuredVectors) {
  std::vector<float> comb(256 * 200, 0.0f);
  for (size_t i = 0; i < comb.size(); i += 256) comb[i] = 1;
  const Moments moments = RelativeNorm(comb);
  EXPECT_NEAR(moments.mean, 1, 0.01);
  EXPECT_LT(moments.deviation, 0.1);
  EXPECT_NEAR(RelativeNorm(std::vector<float>(5000, 1.0f)).mean, 1, 0.01);
}

TEST(SketchTest, IsLinear) {
  const std::vector<float> x = Noise(1000);
  std::vector<float> doubled = x;
  for (float& value : doubled) value *= 2;
  const Sketch once = SketchOf(x.data(), 1000, 7), twice = SketchOf(doubled.data(), 1000, 7);
  for (int64_t j = 0; j < kSketchSize; ++j) EXPECT_EQ(twice[j], 2 * once[j]);
}

TEST(SketchTest, EveryElementLandsWholeInOneBucket) {
  for (int64_t i : {0, 63, 64, 999}) {
    std::vector<float> unit(1000, 0.0f);
    unit[i] = 3;
    const Sketch sketch = SketchOf(unit.data(), 1000, 11);
    EXPECT_EQ(SquaredNorm(sketch), 9) << i;
  }
}

TEST(SketchTest, TheSeedChoosesTheProjection) {
  const std::vector<float> x = Noise(1000);
  EXPECT_EQ(SketchOf(x.data(), 1000, 1), SketchOf(x.data(), 1000, 1));
  EXPECT_NE(SketchOf(x.data(), 1000, 1), SketchOf(x.data(), 1000, 2));
}

TEST(SketchTest, EveryInstructionSetGivesTheSameBits) {
  for (int64_t size : {int64_t{1}, int64_t{65}, 3 * SketchChunk(0) + 7}) {
    const std::vector<float> x = Noise(size);
    const Sketch baseline = SketchOf(x.data(), size, 1, InstructionSet::kBaseline);
    for (InstructionSet set : AvailableInstructionSets()) {
      EXPECT_EQ(SketchOf(x.data(), size, 1, set), baseline);
    }
  }
}

// Chunks are a matter of order alone: every element is in one, once.
TEST(SketchTest, ChunksLeaveNothingOut) {
  const int64_t chunk = SketchChunk(0), size = 40 * chunk + 7;
  const Sketch ones = SketchOf(std::vector<float>(size, 1).data(), size, 1);
  Sketch sum = {};
  const SketchHash hash(1);
  for (int64_t i = 0; i < size; ++i) {
    const int64_t group = i / kSketchGroup, j = i % kSketchGroup;
    const bool negated = (hash.Signs(group) >> j & 1) != 0;
    sum[(hash.Bucket(group) + j) % kSketchSize] += negated ? -1 : 1;
  }
  EXPECT_EQ(ones, sum);  // of small integers: exact in any order
}

TEST(SketchTest, ThereAreSoManyChunksAtMost) {
  for (int64_t size :
       {int64_t{0}, int64_t{1}, int64_t{1} << 25, (int64_t{1} << 25) + 1, int64_t{1} << 40}) {
    EXPECT_LE(SketchChunks(size), 2048) << size;
    EXPECT_GE(SketchChunks(size) * SketchChunk(size), size);
    EXPECT_EQ(SketchChunk(size) % kSketchRound, 0);
  }
}

TEST(SketchTest, NonNumbersStayInTheirBuckets) {
  std::vector<float> x(1000, 1.0f);
  x[70] = NAN;
  const Sketch sketch = SketchOf(x.data(), 1000, 1);
  EXPECT_EQ(std::count_if(sketch.begin(), sketch.end(), [](double y) { return std::isnan(y); }), 1);
}

TEST(SketchTest, AnEmptyVectorHasAZeroSketch) { EXPECT_EQ(SketchOf(nullptr, 0, 1), Sketch{}); }

}  // namespace
}  // namespace grapevine
