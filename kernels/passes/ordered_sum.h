// The fixed order of sums over a vector in double precision, so that every instruction set and
// every GPU gives the same bits.
//
// Positions count from the beginning of the vector, wherever a sum begins in it: aligned
// accesses stay aligned. The vector is cut into chunks of 4096. In a chunk, position i adds to
// lane i mod 64 in ascending order, and the lanes are halved (lane j takes lane j + 32, then j
// + 16, ...) to one. The chunks' sums add to 1024 lanes in the same way, the first chunk that
// the sum touches to lane 0.
//
// A GPU gives a chunk to half a warp, each thread of it holding four lanes, and the chunks'
// sums to one block; 4096 elements are enough to hide the halving, and few enough to fill a
// GPU. More lanes would cost CPUs bandwidth, because they prefetch less far then.
//
// Terms are non-negative, or NaN: lanes that nothing is added to have no effect.
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

// How many chunks the positions [begin, end) touch.
constexpr int64_t ChunksOf(int64_t begin, int64_t end) {
  return begin == end ? 0 : (end - 1) / kSumChunk - begin / kSumChunk + 1;
}

// A term of the sum of squares. NaN and infinity come through.
GRAPEVINE_ELEMENTWISE double Square(float value) {
  return static_cast<double>(value) * static_cast<double>(value);
}

// The sum of the lanes, whose number is a power of two.
GRAPEVINE_ELEMENTWISE double HalveLanes(int64_t count, double* lanes) {
  for (int64_t half = count / 2; half > 0; half /= 2) {
    for (int64_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

// The sum of term(i) over [begin, end), which is within one chunk.
template <typename Term>
GRAPEVINE_ELEMENTWISE double ChunkSum(int64_t begin, int64_t end, const Term& term) {
  alignas(64) double lanes[kSumLanes] = {};
  const int64_t first_row = std::min(end, (begin + kSumLanes - 1) / kSumLanes * kSumLanes);
  int64_t i = begin;
  for (; i < first_row; ++i) lanes[i % kSumLanes] += term(i);
  for (; i + kSumLanes <= end; i += kSumLanes) {
    for (int64_t lane = 0; lane < kSumLanes; ++lane) lanes[lane] += term(i + lane);
  }
  for (; i < end; ++i) lanes[i % kSumLanes] += term(i);
  return HalveLanes(kSumLanes, lanes);
}

// The sum of term(i) over [begin, end).
template <typename Term>
GRAPEVINE_ELEMENTWISE double OrderedSum(int64_t begin, int64_t end, const Term& term) {
  const int64_t first = begin / kSumChunk, chunks = ChunksOf(begin, end);
  // The number of lanes that are not empty, rounded up to a power of two.
  const auto used =
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::min(chunks, kChunkLanes))));
  alignas(64) double lanes[kChunkLanes];
  std::fill_n(lanes, used, 0.0);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t start = (first + chunk) * kSumChunk;
    lanes[chunk % kChunkLanes] +=
        ChunkSum(std::max(begin, start), std::min(end, start + kSumChunk), term);
  }
  return HalveLanes(used, lanes);
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_ORDERED_SUM_H_
