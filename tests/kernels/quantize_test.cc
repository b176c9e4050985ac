#include "kernels/codec/quantize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/passes/denormals.h"
#include "random/keyed_random.h"
#include "tests/kernels/bits.h"
#include "tests/kernels/noise.h"

namespace grapevine {
namespace {

// The value that sign, exponent and mantissa of a binary16 say. Infinity counts as the
// number after the largest, as in rounding.
double HalfByDefinition(uint32_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(HalfTest, ValuesAreThoseOfTheDefinition) {
  for (uint32_t half = 0; half < 0x10000; ++half) {
    const float value = HalfValue(static_cast<uint16_t>(half));
    if ((half & 0x7fff) < 0x7c00) {
      ASSERT_EQ(value, HalfByDefinition(half)) << half;
    } else if ((half & 0x7fff) == 0x7c00) {
      ASSERT_EQ(value, (half & 0x8000) != 0 ? -INFINITY : INFINITY);
    } else {
      ASSERT_TRUE(std::isnan(value)) << half;
    }
    ASSERT_EQ(std::signbit(value), (half & 0x8000) != 0) << half;
  }
}

// Every boundary between two neighbours, and the floats beside it: as rounding is
// monotone, that is all of it.
TEST(HalfTest, RoundsToNearestAndTiesToEven) {
  for (uint32_t sign : {0u, 0x8000u}) {
    for (uint32_t half = 0; half < 0x7c00; ++half) {
      const uint32_t below = half | sign, above = (half + 1) | sign;
      const auto middle =
          static_cast<float>((HalfByDefinition(below) + HalfByDefinition(above)) / 2);
      ASSERT_EQ(HalfBits(middle), half % 2 == 0 ? below : above) << half;
      ASSERT_EQ(HalfBits(std::nextafter(middle, 0.0f)), below) << half;
      ASSERT_EQ(HalfBits(std::nextafter(middle, sign == 0 ? INFINITY : -INFINITY)), above) << half;
      ASSERT_EQ(HalfBits(static_cast<float>(HalfByDefinition(below))), below) << half;
    }
  }
}

TEST(HalfTest, KeepsSpecialValues) {
  EXPECT_EQ(HalfBits(0.0f), 0);
  EXPECT_EQ(HalfBits(-0.0f), 0x8000);
  EXPECT_EQ(HalfBits(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(HalfBits(-std::numeric_limits<float>::denorm_min()), 0x8000);
  EXPECT_EQ(HalfBits(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(HalfBits(-INFINITY), 0xfc00);
  EXPECT_EQ(HalfBits(std::bit_cast<float>(0x7fc00000u)), 0x7e00);
  EXPECT_EQ(HalfBits(std::bit_cast<float>(0xff800001u)), 0xfe00);  // signalling, tiny payload
}

TEST(BrainTest, RoundsToNearestAndTiesToEven) {
  for (uint32_t brain = 0; brain < 0xff80; ++brain) {
    if ((brain & 0x7fff) >= 0x7f80) continue;
    const uint32_t bits = brain << 16;
    ASSERT_EQ(BrainBits(std::bit_cast<float>(bits)), brain);
    ASSERT_EQ(BrainBits(std::bit_cast<float>(bits + 0x7fff)), brain);
    ASSERT_EQ(BrainBits(std::bit_cast<float>(bits + 0x8000)), brain + brain % 2);
    ASSERT_EQ(BrainBits(std::bit_cast<float>(bits + 0x8001)), brain + 1);
    ASSERT_EQ(Bits(BrainValue(static_cast<uint16_t>(brain))), bits);
  }
}

TEST(BrainTest, KeepsSpecialValues) {
  EXPECT_EQ(BrainBits(-0.0f), 0x8000);
  EXPECT_EQ(BrainBits(std::bit_cast<float>(0x00010000u)), 1);  // denormals too
  EXPECT_EQ(BrainBits(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(BrainBits(-INFINITY), 0xff80);
  EXPECT_EQ(BrainBits(std::bit_cast<float>(0x7f800001u)), 0x7fc0);
  EXPECT_EQ(BrainBits(std::bit_cast<float>(0xffffffffu)), 0xffff);
}

constexpr int64_t kSizes[] = {0, 1, 3, 255, 256, 257, 1023, 1024, 1025, 1'000'003};

TEST(Float16Test, EveryInstructionSetConvertsEveryElement) {
  for (Float16Format format : {Float16Format::kHalf, Float16Format::kBrain}) {
    for (int64_t size : kSizes) {
      const std::vector<float> vector = Noise(size);
      for (InstructionSet set : AvailableInstructionSets()) {
        std::vector<uint16_t> halves(size + 1, 42);
        std::vector<float> back(size + 1, 42);
        ConvertToFloat16(format, vector.data(), size, halves.data(), set);
        ConvertFromFloat16(format, halves.data(), size, back.data(), set);
        const bool half = format == Float16Format::kHalf;
        for (int64_t i = 0; i < size; ++i) {
          ASSERT_EQ(halves[i], half ? HalfBits(vector[i]) : BrainBits(vector[i])) << i;
          ASSERT_EQ(back[i], half ? HalfValue(halves[i]) : BrainValue(halves[i])) << i;
        }
        EXPECT_EQ(halves[size], 42);
        EXPECT_EQ(back[size], 42);
      }
    }
  }
}

TEST(Float16Test, FlushedDenormalsChangeNothing) {
  std::vector<float> vector;
  for (uint32_t bits = 0; bits < 0x01000000; bits += 0x1235) {
    vector.push_back(std::bit_cast<float>(bits));
    vector.push_back(std::ldexp(std::bit_cast<float>(bits), 102));  // halves' denormals
  }
  const auto size = static_cast<int64_t>(vector.size());
  for (Float16Format format : {Float16Format::kHalf, Float16Format::kBrain}) {
    std::vector<uint16_t> kept(size), flushed(size);
    std::vector<float> kept_values(size), flushed_values(size);
    ConvertToFloat16(format, vector.data(), size, kept.data());
    ConvertFromFloat16(format, kept.data(), size, kept_values.data());
    {
      const FlushDenormals flush;
      ConvertToFloat16(format, vector.data(), size, flushed.data());
      ConvertFromFloat16(format, kept.data(), size, flushed_values.data());
    }
    EXPECT_EQ(kept, flushed);
    EXPECT_EQ(std::memcmp(kept_values.data(), flushed_values.data(), size * sizeof(float)), 0);
  }
}

std::vector<std::byte> Quantize(const std::vector<float>& vector, uint64_t key,
                                InstructionSet set = BestInstructionSet()) {
  const auto size = static_cast<int64_t>(vector.size());
  std::vector<std::byte> wire(static_cast<size_t>(Int8Bytes(size)), std::byte{0xcd});
  QuantizeInt8(vector.data(), size, key, wire.data(), set);
  return wire;
}

std::vector<float> Dequantize(const std::vector<std::byte>& wire, int64_t size,
                              InstructionSet set = BestInstructionSet()) {
  std::vector<float> vector(static_cast<size_t>(size));
  DequantizeInt8(wire.data(), size, vector.data(), set);
  return vector;
}

float ScaleOf(const std::vector<std::byte>& wire, int64_t block) {
  float scale;
  std::memcpy(&scale, wire.data() + 4 * block, 4);
  return scale;
}

TEST(Int8Test, HasTheLayoutOfTheHeader) {
  EXPECT_EQ(Int8Bytes(0), 0);
  EXPECT_EQ(Int8Bytes(1), 16 + 1);
  EXPECT_EQ(Int8Bytes(1024), 16 + 1024);
  EXPECT_EQ(Int8Bytes(4 * 1024 + 1), 32 + 4 * 1024 + 1);
  std::vector<float> vector(1025, 0.0f);
  vector[3] = -2;
  vector[1024] = 254;
  const std::vector<std::byte> wire = Quantize(vector, 1);
  EXPECT_EQ(ScaleOf(wire, 0), 2 / 127.0f);
  EXPECT_EQ(ScaleOf(wire, 1), 2);
  for (size_t i = 8; i < 16; ++i) EXPECT_EQ(wire[i], std::byte{0}) << i;
  EXPECT_EQ(static_cast<int8_t>(wire[16 + 3]), -127);
  EXPECT_EQ(static_cast<int8_t>(wire[16 + 4]), 0);
  EXPECT_EQ(static_cast<int8_t>(wire[16 + 1024]), 127);
}

TEST(Int8Test, IsOffByLessThanAScale) {
  for (int64_t size : kSizes) {
    const std::vector<float> vector = Noise(size);
    const std::vector<std::byte> wire = Quantize(vector, Int8Key(1, 2, 3));
    const std::vector<float> back = Dequantize(wire, size);
    for (int64_t i = 0; i < size; ++i) {
      ASSERT_LT(std::abs(back[i] - vector[i]), 1.0001 * ScaleOf(wire, i / kInt8Block)) << i;
    }
  }
}

TEST(Int8Test, EveryInstructionSetGivesTheSameBits) {
  for (int64_t size : kSizes) {
    const std::vector<float> vector = Noise(size);
    const std::vector<std::byte> wire = Quantize(vector, 5, InstructionSet::kBaseline);
    const std::vector<float> back = Dequantize(wire, size, InstructionSet::kBaseline);
    for (InstructionSet set : AvailableInstructionSets()) {
      EXPECT_EQ(Quantize(vector, 5, set), wire) << size;
      EXPECT_EQ(Dequantize(wire, size, set), back) << size;
    }
  }
}

TEST(Int8Test, ElementsAreRoundedByTheirOwnBitsOfTheKey) {
  const std::vector<float> vector = Noise(2000);
  const std::vector<std::byte> wire = Quantize(vector, 77);
  for (int64_t i = 0; i < 2000; ++i) {
    const uint64_t random = MixAt(77, static_cast<uint64_t>(i) / 4) >> (16 * (i % 4)) & 0xffff;
    float largest = 0;
    for (int64_t j = i / 1024 * 1024; j < std::min<int64_t>(2000, i / 1024 * 1024 + 1024); ++j) {
      largest = std::max(largest, std::abs(vector[j]));
    }
    // Up with the probability of what is left, to the place that is rounded.
    const double places = vector[i] * (127.0 / largest) * 65536;
    const int integer = static_cast<int8_t>(wire[16 + i]);
    ASSERT_GE(integer, std::floor((places - 1 + static_cast<double>(random)) / 65536)) << i;
    ASSERT_LE(integer, std::floor((places + 1 + static_cast<double>(random)) / 65536)) << i;
  }
}

// Over 4096 keys the mean of one element is off by more than 5 / sqrt(4096) of half a
// scale once in a million tries; the keys are fixed.
TEST(Int8Test, TheMeanOverKeysIsTheElement) {
  constexpr int kKeys = 4096;
  std::vector<float> vector = {1, 0.5f, -0.3f, 0.001f, -0.0001f, 0.999f, -1, 0};
  std::vector<double> means(vector.size(), 0.0);
  for (uint64_t round = 0; round < kKeys; ++round) {
    const std::vector<float> back =
        Dequantize(Quantize(vector, Int8Key(/*seed=*/9, round, /*node=*/4)),
                   static_cast<int64_t>(vector.size()));
    for (size_t i = 0; i < means.size(); ++i) means[i] += static_cast<double>(back[i]) / kKeys;
  }
  for (size_t i = 0; i < means.size(); ++i) {
    EXPECT_NEAR(means[i], vector[i], 5.0 / 64 * 0.5 / 127) << i;
  }
  EXPECT_EQ(means[7], 0);
}

TEST(Int8Test, TheMeanOverAllDrawsIsTheElementToHalfAPlace) {
  const Int8Scale scale = Int8ScaleOf(MagnitudeBits(1.0f));
  for (float value : {0.3f, -0.3f, 0.7001f, -0.00001f, 1.0f, -1.0f, 0.0f}) {
    int64_t sum = 0;
    for (uint32_t random = 0; random < 0x10000; ++random) {
      sum += Int8Element(value, scale.inverse, random);
    }
    EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(value) * 127 * 65536, 0.51) << value;
  }
}

// The quotient of the largest may be rounded past 127.
TEST(Int8Test, NeverPasses127) {
  KeyedRandom random(/*seed=*/3, Purpose::kGradientNoise);
  for (int i = 0; i < 10'000; ++i) {
    const auto largest = static_cast<float>(random.Normal());
    const Int8Scale scale = Int8ScaleOf(MagnitudeBits(largest));
    ASSERT_EQ(Int8Element(std::abs(largest), scale.inverse, 0xffff), 127) << largest;
    ASSERT_EQ(Int8Element(-std::abs(largest), scale.inverse, 0), -127) << largest;
  }
}

TEST(Int8Test, KeysOfNodesAndRoundsDiffer) {
  EXPECT_NE(Int8Key(1, 2, 3), Int8Key(1, 3, 2));
  EXPECT_NE(Int8Key(1, 2, 3), Int8Key(2, 2, 3));
  const std::vector<float> vector = Noise(1000);
  EXPECT_NE(Quantize(vector, Int8Key(1, 2, 3)), Quantize(vector, Int8Key(1, 2, 4)));
}

TEST(Int8Test, NonNumbersTakeTheirBlockWithThem) {
  for (float bad : {NAN, INFINITY, -INFINITY}) {
    std::vector<float> vector(2048, 1.0f);
    vector[1500] = bad;
    const std::vector<std::byte> wire = Quantize(vector, 1);
    EXPECT_EQ(Bits(ScaleOf(wire, 1)), 0x7fc00000u);
    const std::vector<float> back = Dequantize(wire, 2048);
    for (size_t i = 0; i < 1024; ++i) ASSERT_EQ(back[i], 1) << i;
    for (size_t i = 1024; i < 2048; ++i) {
      ASSERT_TRUE(std::isnan(back[i])) << i;
      ASSERT_EQ(wire[16 + i], std::byte{0}) << i;
    }
  }
}

TEST(Int8Test, KeepsTheLargestAndDropsTheSmallest) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  const std::vector<float> large = {kLargest, -kLargest, -0.0f};
  EXPECT_EQ(Dequantize(Quantize(large, 1), 3)[1], -127 * (kLargest / 127));
  for (float tiny : {126 * 0x1p-108f, 0x1p-149f, -0.0f}) {
    EXPECT_EQ(Quantize({tiny, -tiny}, 1), std::vector<std::byte>(18, std::byte{0})) << tiny;
  }
}

TEST(Int8Test, FlushedDenormalsChangeNothing) {
  std::vector<float> vector = {127 * 0x1p-108f};  // the smallest scale there is
  EXPECT_EQ(ScaleOf(Quantize(vector, 1), 0), 0x1p-108f);
  for (uint32_t bits = 0; bits < 0x01000000; bits += 0x3fff) {
    vector.push_back(std::bit_cast<float>(bits));
    vector.push_back(-std::bit_cast<float>(bits));
  }
  vector.resize(1024);
  const std::vector<std::byte> wire = Quantize(vector, 1);
  const FlushDenormals flush;
  EXPECT_EQ(Quantize(vector, 1), wire);
}

}  // namespace
}  // namespace grapevine
