// A sketch of a vector: 256 numbers that keep distances, so that the consensus
// distance of a run is known without moving the replicas.
//
// A count-sketch (Charikar, Chen, Farach-Colton 2002): every element is added
// with a random sign to a random bucket. It is linear, and for a difference d of
// two vectors |S d|^2 has the mean |d|^2 and a standard deviation of at most
// sqrt(2 / 256) |d|^2, about 9 per cent: twice that is nothing rare. Elements are hashed 64 at a
// time: signs are drawn for each, a bucket for the first, and the others follow in a ring; two
// elements share a bucket with probability at most 1/256 as before.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_PASSES_SKETCH_H_
#define GRAPEVINE_KERNELS_PASSES_SKETCH_H_

#include <array>
#include <cstdint>

#include "kernels/passes/instruction_set.h"

namespace grapevine {

inline constexpr int64_t kSketchSize = 256;
using Sketch = std::array<double, kSketchSize>;

// The sketch of `vector` under the projection that `seed` draws. Sketches can be
// compared when seed and size agree. The same bits on every instruction set.
Sketch SketchOf(const float* vector, int64_t size, uint64_t seed,
                InstructionSet set = BestInstructionSet());

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_SKETCH_H_
