// A sketch of a vector: 256 numbers that preserve distances, to estimate a run's consensus
// distance without moving the replicas.
//
// It is a count-sketch (Charikar, Chen, Farach-Colton 2002): every element is added with a random
// sign to a random bucket. It is linear, and for a difference d of two vectors |S d|^2 has the
// mean |d|^2 and a standard deviation of at most sqrt(2 / 256) |d|^2, about 9 per cent; an error
// of twice that is not rare. Elements are hashed in groups of 64: each element draws a sign, the
// first one draws a bucket, and the others follow in a ring. Two elements still share a bucket
// with probability at most 1/256.
//
// The draws that place an element, and the order in which the doubles are added, are the same
// on every backend. The vector is cut into at most 2048 chunks of whole rounds of 32 groups of
// 64, and each chunk has a sketch of its own, to which its groups are added in ascending order.
// The chunks' sketches add to 32 lanes (chunk c to lane c mod 32, in ascending order), which
// are halved (lane j takes lane j + 16, then j + 8, ...) to one. A GPU gives a chunk to a warp,
// whose threads draw one hash each. 2048 warps fill a GPU, and their sketches are few bytes
// compared with the vector.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_PASSES_SKETCH_H_
#define GRAPEVINE_KERNELS_PASSES_SKETCH_H_

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "kernels/passes/instruction_set.h"
#include "random/keyed_random.h"

namespace grapevine {

inline constexpr int64_t kSketchSize = 256;
using Sketch = std::array<double, kSketchSize>;

// Returns the sketch of `vector` under the projection that `seed` draws. Two sketches can be
// compared if their seeds and sizes agree. Every instruction set gives the same bits.
Sketch SketchOf(const float* vector, int64_t size, uint64_t seed,
                InstructionSet set = BestInstructionSet());

inline constexpr int64_t kSketchGroup = 64;
// The size of the ring of buckets, unrolled: a group may begin in any bucket, and the buckets past
// the end are finally added to the beginning.
inline constexpr int64_t kOpenSketchSize = kSketchSize + kSketchGroup;
inline constexpr int64_t kSketchRound = 32 * kSketchGroup;
inline constexpr int64_t kSketchLanes = 32;

// Returns the number of elements of every chunk but the last.
constexpr int64_t SketchChunk(int64_t size) {
  const int64_t rounds = (size + 2048 * kSketchRound - 1) / (2048 * kSketchRound);
  return std::max<int64_t>(8, rounds) * kSketchRound;
}

constexpr int64_t SketchChunks(int64_t size) {
  return (size + SketchChunk(size) - 1) / SketchChunk(size);
}

// Draws the random signs and buckets that make up a projection.
struct SketchHash {
  uint64_t sign_key;
  uint64_t bucket_key;

  constexpr explicit SketchHash(uint64_t seed)
      : sign_key(MixKey(seed, Purpose::kSketch, 0, 0)),
        bucket_key(MixKey(seed, Purpose::kSketch, 1, 0)) {}

  // Returns the signs of a group: bit j is set if element j is negated.
  constexpr uint64_t Signs(int64_t group) const {
    return MixAt(sign_key, static_cast<uint64_t>(group));
  }
  // Returns the bucket of the group's first element; the others go to the buckets after it.
  constexpr int Bucket(int64_t group) const {
    return static_cast<int>(MixAt(bucket_key, static_cast<uint64_t>(group)) % kSketchSize);
  }
};

// Returns x, negated if bit j of `signs` is set.
GRAPEVINE_ELEMENTWISE double SketchTerm(float x, uint64_t signs, int64_t j) {
  const uint32_t sign = static_cast<uint32_t>(signs >> j) << 31;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(x) ^ sign);
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_SKETCH_H_
