#include "kernels/passes/sketch.h"

#include <algorithm>
#include <bit>

namespace grapevine {
namespace {

using OpenSketch = std::array<double, kOpenSketchSize>;
using Lanes = std::array<Sketch, kSketchLanes>;

GRAPEVINE_INLINE void AddGroup(const float* x, int64_t size, uint64_t signs, double* buckets) {
  for (int64_t j = 0; j < size; ++j) buckets[j] += SketchTerm(x[j], signs, j);
}

// Adds the sketch of the chunk [begin, end) to `sketch`.
GRAPEVINE_INLINE void AddChunk(const float* vector, int64_t begin, int64_t end,
                               const SketchHash& hash, Sketch* sketch) {
  OpenSketch open = {};
  for (int64_t i = begin; i < end; i += kSketchGroup) {
    const int64_t group = i / kSketchGroup;
    AddGroup(vector + i, std::min(kSketchGroup, end - i), hash.Signs(group),
             open.data() + hash.Bucket(group));
  }
  for (int64_t j = 0; j < kSketchGroup; ++j) open[j] += open[kSketchSize + j];
  for (int64_t j = 0; j < kSketchSize; ++j) (*sketch)[j] += open[j];
}

struct SketchKernel {
  GRAPEVINE_INLINE static void Run(const float* vector, int64_t size, const SketchHash& hash,
                                   Lanes* lanes) {
    const int64_t chunk = SketchChunk(size);
    for (int64_t begin = 0, lane = 0; begin < size; begin += chunk, ++lane) {
      AddChunk(vector, begin, std::min(size, begin + chunk), hash, &(*lanes)[lane % kSketchLanes]);
    }
  }
};

}  // namespace

Sketch SketchOf(const float* vector, int64_t size, uint64_t seed, InstructionSet set) {
  Lanes lanes;
  // The number of non-empty lanes, rounded up to a power of two so that they can be halved. An
  // empty lane is +0, which changes no sum, since no sum is -0.
  const auto used = static_cast<int64_t>(
      std::bit_ceil(static_cast<uint64_t>(std::min(SketchChunks(size), kSketchLanes))));
  std::fill_n(lanes.begin(), used, Sketch{});
  RunKernel<SketchKernel>(set, vector, size, SketchHash(seed), &lanes);
  for (int64_t half = used / 2; half > 0; half /= 2) {
    for (int64_t lane = 0; lane < half; ++lane) {
      for (int64_t j = 0; j < kSketchSize; ++j) lanes[lane][j] += lanes[lane + half][j];
    }
  }
  return lanes[0];
}

}  // namespace grapevine
