#include "kernels/codec/quantize.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace grapevine {
namespace {

static_assert(std::endian::native == std::endian::little, "the wire has this machine's bytes");

struct HalfKernel {
  GRAPEVINE_INLINE static void Run(const float* __restrict in, int64_t size,
                                   uint16_t* __restrict out) {
    for (int64_t i = 0; i < size; ++i) out[i] = HalfBits(in[i]);
  }
  GRAPEVINE_INLINE static void Run(const uint16_t* __restrict in, int64_t size,
                                   float* __restrict out) {
    for (int64_t i = 0; i < size; ++i) out[i] = HalfValue(in[i]);
  }
};

struct BrainKernel {
  GRAPEVINE_INLINE static void Run(const float* __restrict in, int64_t size,
                                   uint16_t* __restrict out) {
    for (int64_t i = 0; i < size; ++i) out[i] = BrainBits(in[i]);
  }
  GRAPEVINE_INLINE static void Run(const uint16_t* __restrict in, int64_t size,
                                   float* __restrict out) {
    for (int64_t i = 0; i < size; ++i) out[i] = BrainValue(in[i]);
  }
};

// Draws the random bits of elements [begin, begin + kInt8Block); `begin` is a multiple of 4.
GRAPEVINE_INLINE void DrawBlock(uint64_t key, int64_t begin, uint16_t* random) {
  uint64_t words[kInt8Block / 4];
  for (uint64_t j = 0; j < kInt8Block / 4; ++j) {
    words[j] = MixAt(key, static_cast<uint64_t>(begin) / 4 + j);
  }
  std::memcpy(random, words, sizeof words);
}

// Quantizes the `size` elements of a block, at most kInt8Block; returns the block's scale.
GRAPEVINE_INLINE float QuantizeBlock(const float* __restrict in, int64_t size,
                                     const uint16_t* __restrict random, int8_t* __restrict out) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < size; ++i) largest = std::max(largest, MagnitudeBits(in[i]));
  const Int8Scale scale = Int8ScaleOf(largest);
  for (int64_t i = 0; i < size; ++i) out[i] = Int8Element(in[i], scale.inverse, random[i]);
  return scale.scale;
}

struct Int8Kernel {
  GRAPEVINE_INLINE static void Run(const float* in, int64_t size, uint64_t key, float* scales,
                                   int8_t* out) {
    uint16_t random[kInt8Block];
    for (int64_t begin = 0; begin < size; begin += kInt8Block) {
      DrawBlock(key, begin, random);
      scales[begin / kInt8Block] =
          QuantizeBlock(in + begin, std::min(kInt8Block, size - begin), random, out + begin);
    }
  }
  GRAPEVINE_INLINE static void Run(const float* scales, const int8_t* __restrict in, int64_t size,
                                   float* __restrict out) {
    for (int64_t begin = 0; begin < size; begin += kInt8Block) {
      const float scale = scales[begin / kInt8Block];
      const int64_t end = std::min(begin + kInt8Block, size);
      for (int64_t i = begin; i < end; ++i) out[i] = Int8Value(in[i], scale);
    }
  }
};

template <typename In, typename Out>
void Convert(Float16Format format, const In* in, int64_t size, Out* out, InstructionSet set) {
  if (format == Float16Format::kHalf) return RunKernel<HalfKernel>(set, in, size, out);
  RunKernel<BrainKernel>(set, in, size, out);
}

}  // namespace

void ConvertToFloat16(Float16Format format, const float* vector, int64_t size, uint16_t* halves,
                      InstructionSet set) {
  Convert(format, vector, size, halves, set);
}

void ConvertFromFloat16(Float16Format format, const uint16_t* halves, int64_t size, float* vector,
                        InstructionSet set) {
  Convert(format, halves, size, vector, set);
}

void QuantizeInt8(const float* vector, int64_t size, uint64_t key, std::byte* wire,
                  InstructionSet set) {
  const int64_t offset = Int8ValuesOffset(size);
  auto* const scales = reinterpret_cast<float*>(wire);
  std::fill(wire + Int8Blocks(size) * static_cast<int64_t>(sizeof(float)), wire + offset,
            std::byte{0});
  RunKernel<Int8Kernel>(set, vector, size, key, scales, reinterpret_cast<int8_t*>(wire + offset));
}

void DequantizeInt8(const std::byte* wire, int64_t size, float* vector, InstructionSet set) {
  RunKernel<Int8Kernel>(set, reinterpret_cast<const float*>(wire),
                        reinterpret_cast<const int8_t*>(wire + Int8ValuesOffset(size)), size,
                        vector);
}

}  // namespace grapevine
