// The fixed order of sums over a vector in double precision, so that every instruction set and
// every GPU gives the same bits.
//
// Positions count from the first element of the sum, wherever it lies in memory. The elements are
// cut into chunks of 4096. In a chunk, position i adds to lane i mod 64 in ascending order, and
// the lanes are halved (lane j takes lane j + 32, then j + 16, ...) to one. The chunks' sums add
// to 1024 lanes in the same way.
//
// A GPU gives a chunk to half a warp, each of whose threads holds four lanes, and the chunks'
// sums to one block. 4096 elements are enough to hide the halving, and few enough to fill a GPU.
// With more lanes, CPUs would lose bandwidth, because they would prefetch less far.
//
// Terms are non-negative, or NaN, so that empty lanes have no effect.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_PASSES_ORDERED_SUM_H_
#define GRAPEVINE_KERNELS_PASSES_ORDERED_SUM_H_

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernels/passes/instruction_set.h"

namespace grapevine {

inline constexpr int64_t kSumChunk = 4096;
inline constexpr int64_t kSumLanes = 64;
inline constexpr int64_t kChunkLanes = 1024;

// Returns the number of chunks of `size` elements.
constexpr int64_t ChunksOf(int64_t size) { return (size + kSumChunk - 1) / kSumChunk; }

// Returns the square of `value`, a term of the sum of squares. NaN and infinity are kept.
GRAPEVINE_ELEMENTWISE double Square(float value) {
  return static_cast<double>(value) * static_cast<double>(value);
}

// Returns the sum of `count` lanes, which it overwrites; `count` is a power of two.
GRAPEVINE_ELEMENTWISE double HalveLanes(int64_t count, double* lanes) {
  for (int64_t half = count / 2; half > 0; half /= 2) {
    for (int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

// Returns the sum of term(i) over [begin, end), a chunk or the beginning of one.
template <typename Term>
GRAPEVINE_ELEMENTWISE double ChunkSum(int64_t begin, int64_t end, const Term& term) {
  alignas(64) double lanes[kSumLanes] = {};
  int64_t i = begin;
  for (; i + kSumLanes <= end; i += kSumLanes) {
    for (int64_t lane = 0; lane < kSumLanes; ++lane) lanes[lane] += term(i + lane);
  }
  for (; i < end; ++i) lanes[i % kSumLanes] += term(i);
  return HalveLanes(kSumLanes, lanes);
}

// Returns the sum of chunk_sum(begin, end) over the chunks of [0, size).
template <typename SumOfOne>
GRAPEVINE_ELEMENTWISE double SumOfChunks(int64_t size, const SumOfOne& chunk_sum) {
  const int64_t chunks = ChunksOf(size);
  // The number of non-empty lanes, rounded up to a power of two.
  const auto used =
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::min(chunks, kChunkLanes))));
  alignas(64) double lanes[kChunkLanes];
  std::fill_n(lanes, used, 0.0);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t start = chunk * kSumChunk;
    lanes[chunk % kChunkLanes] += chunk_sum(start, std::min(size, start + kSumChunk));
  }
  return HalveLanes(used, lanes);
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_ORDERED_SUM_H_
