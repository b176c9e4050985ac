// Vectors in fewer bits: the building blocks of message codecs.
//
// On the wire everything is little-endian.
// - Two bytes an element (binary16 or bfloat16), in the vector's order.
// - One byte an element: blocks of kInt8Block elements share a scale. First the scales,
//   a float for each block; zeros up to a multiple of 16 bytes; then an int8 for each
//   element. Its value is int8 * scale, where scale = the block's largest magnitude /
//   127, so that no element is off by a scale or more. Rounding is stochastic (QSGD,
//   arXiv:1610.02132): the mean of an element's value over keys is the element, to half
//   of the last place of the block's largest. A block with NaN or infinity has the
//   scale NaN: all of it becomes NaN, so that a diverged run is noticed. A block that
//   is below 3e-31 everywhere becomes 0.
//
// Every instruction set and GPU gives the same bits, also where denormals are flushed: all backends
// share the arithmetic of one element, defined here.
//
// Thread-safety: pure functions over the caller's memory, which must not overlap.
#ifndef GRAPEVINE_KERNELS_CODEC_QUANTIZE_H_
#define GRAPEVINE_KERNELS_CODEC_QUANTIZE_H_

#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/passes/instruction_set.h"
#include "random/keyed_random.h"

namespace grapevine {

inline constexpr uint32_t kFloatSign = 0x80000000;
inline constexpr uint32_t kFloatInfinity = 0x7f800000;

// Returns the bits of |value|. They have the order of the magnitudes, with NaN above infinity.
GRAPEVINE_ELEMENTWISE uint32_t MagnitudeBits(float value) {
  return std::bit_cast<uint32_t>(value) & ~kFloatSign;
}

// Returns `condition ? yes : no` in a form that no compiler turns into a branch, so that loops over
// it are vectorized.
GRAPEVINE_ELEMENTWISE uint32_t Select(bool condition, uint32_t yes, uint32_t no) {
  return no ^ ((yes ^ no) & (0u - static_cast<uint32_t>(condition)));
}

// Compares two magnitudes as signed numbers, which every instruction set can do.
GRAPEVINE_ELEMENTWISE bool IsLess(uint32_t a, uint32_t b) {
  return static_cast<int32_t>(a) < static_cast<int32_t>(b);
}

// Returns `value` as IEEE 754 binary16, rounded to nearest, ties to even. Magnitudes from 65520 on
// become infinity, those below 2^-14 denormal. NaN stays NaN, quiet, with its sign and the top of
// its payload.
GRAPEVINE_ELEMENTWISE uint16_t HalfBits(float value) {
  const uint32_t magnitude = MagnitudeBits(value);
  const uint32_t sign = std::bit_cast<uint32_t>(value) >> 16 & 0x8000;
  // The exponent's bias changes from 127 to 15; a carry of the mantissa goes into the exponent.
  const uint32_t normal = (magnitude - (112u << 23) + 0x0fff + (magnitude >> 13 & 1)) >> 13;
  // The last place of numbers from 1/2 on is the unit of denormals, 2^-24.
  const uint32_t denormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  const uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
  const uint32_t finite = Select(IsLess(magnitude, 0x38800000), denormal, normal);
  const uint32_t past = Select(IsLess(kFloatInfinity, magnitude), nan, 0x7c00);
  return static_cast<uint16_t>(Select(IsLess(magnitude, 0x477ff000), finite, past) | sign);
}

// Returns the exact value of binary16 `half`. NaN keeps its payload.
GRAPEVINE_ELEMENTWISE float HalfValue(uint16_t half) {
  const uint32_t magnitude = half & 0x7fffu;
  const uint32_t normal = (magnitude << 13) + (112u << 23);
  const uint32_t denormal =
      std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
  const uint32_t finite = Select(IsLess(magnitude, 0x0400), denormal, normal);
  const uint32_t bits = Select(IsLess(magnitude, 0x7c00), finite, magnitude << 13 | kFloatInfinity);
  return std::bit_cast<float>(bits | (half & 0x8000u) << 16);
}

// Returns `value` as bfloat16, the upper half of a float, rounded to nearest, ties to even.
// Denormals are kept. NaN stays NaN, quiet, with its sign and the top of its payload.
GRAPEVINE_ELEMENTWISE uint16_t BrainBits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
  const uint32_t nan = bits | 0x00400000;
  return static_cast<uint16_t>((MagnitudeBits(value) > kFloatInfinity ? nan : rounded) >> 16);
}

// Returns the exact value of bfloat16 `brain`.
GRAPEVINE_ELEMENTWISE float BrainValue(uint16_t brain) {
  return std::bit_cast<float>(static_cast<uint32_t>(brain) << 16);
}

// The quantization of a block's elements.
struct Int8Scale {
  float scale = 0;    // the value of the integer 1
  float inverse = 0;  // 1 / scale; 0 if all integers are 0
};

// Returns the scale of a block; `largest` is the MagnitudeBits of its largest element. A block
// whose scale would be below 2^-108 (3e-33) becomes 0, so that denormals, which only some threads
// flush, never count. A block that is not finite gets the scale NaN.
GRAPEVINE_ELEMENTWISE Int8Scale Int8ScaleOf(uint32_t largest) {
  if (largest >= kFloatInfinity) return {std::bit_cast<float>(0x7fc00000u), 0};
  const float magnitude = std::bit_cast<float>(largest);
  if (magnitude < 127 * 0x1p-108f) return {0, 0};
  return {magnitude / 127, 127 / magnitude};
}

// Returns value / scale, rounded up or down at random so that the mean is right to 2^-17.
// `random` is uniform in [0, 2^16).
GRAPEVINE_ELEMENTWISE int8_t Int8Element(float value, float inverse, uint32_t random) {
  // Fixed point with 16 binary places, rounded to nearest.
  const float fixed = (inverse == 0 ? 0 : value) * inverse * 65536.0f;
  const auto places = static_cast<int32_t>(fixed + (fixed < 0 ? -0.5f : 0.5f));
  constexpr int32_t kMax = 127 << 16;  // rounding may exceed it
  const int32_t within = places > kMax ? kMax : places < -kMax ? -kMax : places;
  return static_cast<int8_t>((within + static_cast<int32_t>(random)) >> 16);
}

GRAPEVINE_ELEMENTWISE float Int8Value(int8_t element, float scale) {
  return static_cast<float>(element) * scale;
}

enum class Float16Format {
  kHalf,   // IEEE 754 binary16: 11 bits of precision, up to 65504
  kBrain,  // bfloat16: 8 bits of precision, float's range
};

// halves[i] <- vector[i], rounded to nearest, ties to even.
void ConvertToFloat16(Float16Format format, const float* vector, int64_t size, uint16_t* halves,
                      InstructionSet set = BestInstructionSet());
// vector[i] <- halves[i], exactly.
void ConvertFromFloat16(Float16Format format, const uint16_t* halves, int64_t size, float* vector,
                        InstructionSet set = BestInstructionSet());

inline constexpr int64_t kInt8Block = 1024;

constexpr int64_t Int8Blocks(int64_t size) { return (size + kInt8Block - 1) / kInt8Block; }
// Returns the offset of the integers, in bytes.
constexpr int64_t Int8ValuesOffset(int64_t size) {
  return (Int8Blocks(size) * static_cast<int64_t>(sizeof(float)) + 15) / 16 * 16;
}
// Returns the bytes of a vector of `size` elements on the wire.
constexpr int64_t Int8Bytes(int64_t size) { return Int8ValuesOffset(size) + size; }

// Returns the key of one vector's rounding. Two vectors of the same node and round need different
// seeds.
constexpr uint64_t Int8Key(uint64_t seed, uint64_t round, uint64_t node) {
  return MixKey(seed, Purpose::kQuantization, node, round);
}

// Writes the Int8Bytes(size) bytes of `wire`, which is aligned to 4 bytes. Element i is rounded by
// 16 bits of MixAt(key, i / 4); the first of four elements takes the lowest bits.
void QuantizeInt8(const float* vector, int64_t size, uint64_t key, std::byte* wire,
                  InstructionSet set = BestInstructionSet());
void DequantizeInt8(const std::byte* wire, int64_t size, float* vector,
                    InstructionSet set = BestInstructionSet());

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CODEC_QUANTIZE_H_
