#include "kernels/sketch.h"

#include <algorithm>
#include <bit>

#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr int64_t kGroup = 64;  // elements that share a hash

// The ring of buckets, cut open: a group may begin in any bucket.
using OpenSketch = std::array<double, kSketchSize + kGroup>;

// Bit j of `signs` negates x_j.
GRAPEVINE_INLINE void AddGroup(const float* x, int64_t size, uint64_t signs, double* buckets) {
  for (int64_t j = 0; j < size; ++j) {
    const uint32_t sign = static_cast<uint32_t>(signs >> j) << 31;
    buckets[j] += std::bit_cast<float>(std::bit_cast<uint32_t>(x[j]) ^ sign);
  }
}

struct SketchKernel {
  GRAPEVINE_INLINE static void Run(const float* vector, int64_t size, uint64_t seed,
                                   OpenSketch* open) {
    for (int64_t i = 0; i < size; i += kGroup) {
      const uint64_t group = static_cast<uint64_t>(i / kGroup);
      const uint64_t signs = Mix(seed, Purpose::kSketch, 0, 0, group);
      const uint64_t bucket = Mix(seed, Purpose::kSketch, 1, 0, group) % kSketchSize;
      AddGroup(vector + i, std::min(kGroup, size - i), signs, open->data() + bucket);
    }
  }
};

}  // namespace

Sketch SketchOf(const float* vector, int64_t size, uint64_t seed, InstructionSet set) {
  OpenSketch open = {};
  RunKernel<SketchKernel>(set, vector, size, seed, &open);
  Sketch sketch;
  std::copy_n(open.begin(), kSketchSize, sketch.begin());
  for (int64_t j = 0; j < kGroup; ++j) sketch[j] += open[kSketchSize + j];
  return sketch;
}

}  // namespace grapevine
