// Clipping of a vector by its Euclidean norm (Pascanu, Mikolov and Bengio, arXiv:1211.5063,
// algorithm 1):
//
//   v <- v * limit / |v|   if |v| > limit
//
// The norm is a sum in the order of ordered_sum.h: the bits do not depend on the instruction set or
// on the device. A norm of NaN clips nothing, and one of infinity leaves NaNs where there were
// infinities: what has diverged stays so.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_VECTOR_CLIP_NORM_H_
#define GRAPEVINE_KERNELS_VECTOR_CLIP_NORM_H_

#include <cmath>
#include <cstdint>

#include "kernels/passes/instruction_set.h"
#include "kernels/passes/ordered_sum.h"

namespace grapevine {

// At most 1; `limit` is positive.
GRAPEVINE_ELEMENTWISE float ClipFactor(double squared_norm, double limit) {
  const double norm = std::sqrt(squared_norm);
  return norm > limit ? static_cast<float>(limit / norm) : 1.0f;
}

// Doubles of scratch memory, in which a device keeps the norm: its chunks' sums and itself.
constexpr int64_t ClipScratch(int64_t size) { return ChunksOf(size) + 1; }

// Two sweeps, of which the second is left out where nothing is clipped.
void ClipNorm(float* vector, int64_t size, double limit, InstructionSet set = BestInstructionSet());

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_CLIP_NORM_H_
