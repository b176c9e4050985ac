// Vectors in fewer bits: what codecs of messages are made of.
//
// On the wire everything is little-endian.
// - Two bytes an element (binary16 or bfloat16), in the vector's order.
// - One byte an element: blocks of kInt8Block elements share a scale. First the scales,
//   a float for each block; zeros up to a multiple of 16 bytes; then an int8 for each
//   element. Its value is int8 * scale, where scale = the block's largest magnitude /
//   127, so that no element is off by a scale or more. Rounding is stochastic (QSGD,
//   arXiv:1610.02132): the mean of an element's value over keys is the element, to half
//   of the last place of the block's largest. A block with NaN or infinity has the
//   scale NaN: all of it becomes NaN, so that a run that diverged is seen to. One that
//   is below 3e-31 everywhere becomes 0.
//
// The same bits on every instruction set and GPU: narrow_element.h.
//
// Thread-safety: pure functions over the caller's memory, which must not overlap.
#ifndef GRAPEVINE_KERNELS_CODEC_NARROW_H_
#define GRAPEVINE_KERNELS_CODEC_NARROW_H_

#include <cstddef>
#include <cstdint>

#include "kernels/passes/instruction_set.h"
#include "random/keyed_random.h"

namespace grapevine {

enum class NarrowFloat {
  kHalf,   // IEEE 754 binary16: 11 bits of precision, up to 65504
  kBrain,  // bfloat16: 8 bits of precision, float's range
};

// narrow[i] <- vector[i], rounded to nearest, ties to even.
void Narrow(NarrowFloat format, const float* vector, int64_t size, uint16_t* narrow,
            InstructionSet set = BestInstructionSet());
// vector[i] <- narrow[i], exactly.
void Widen(NarrowFloat format, const uint16_t* narrow, int64_t size, float* vector,
           InstructionSet set = BestInstructionSet());

inline constexpr int64_t kInt8Block = 1024;

constexpr int64_t Int8Blocks(int64_t size) { return (size + kInt8Block - 1) / kInt8Block; }
// Where the integers begin, in bytes.
constexpr int64_t Int8ValuesOffset(int64_t size) {
  return (Int8Blocks(size) * static_cast<int64_t>(sizeof(float)) + 15) / 16 * 16;
}
// All bytes of a vector of `size` elements.
constexpr int64_t Int8Bytes(int64_t size) { return Int8ValuesOffset(size) + size; }

// The key of one vector's rounding. Two vectors of the same node and round need
// different seeds.
constexpr uint64_t Int8Key(uint64_t seed, uint64_t round, uint64_t node) {
  return MixKey(seed, Purpose::kQuantization, node, round);
}

// Writes the Int8Bytes(size) bytes of `wire`, which is aligned to 4. Element i is
// rounded by 16 bits of MixAt(key, i / 4), the lowest first.
void QuantizeInt8(const float* vector, int64_t size, uint64_t key, std::byte* wire,
                  InstructionSet set = BestInstructionSet());
void DequantizeInt8(const std::byte* wire, int64_t size, float* vector,
                    InstructionSet set = BestInstructionSet());

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CODEC_NARROW_H_
