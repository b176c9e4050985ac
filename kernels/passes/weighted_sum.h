// out <- sum_k weight_k * vector_k: averaging, and every linear combination that
// an algorithm asks its driver for.
//
// Per element ((w_0 v_0 + w_1 v_1) + w_2 v_2) + ..., in the listed order and
// without contraction, whatever the instruction set: the same bits everywhere.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_PASSES_WEIGHTED_SUM_H_
#define GRAPEVINE_KERNELS_PASSES_WEIGHTED_SUM_H_

#include <cstdint>
#include <span>

#include "kernels/passes/instruction_set.h"

namespace grapevine {

// A term of the sum, weight * vector; the memory is the caller's.
struct WeightedVector {
  float weight;
  const float* vector;
};

// Each vector and `out` have `size` elements. A term may be `out` itself, but
// no other overlap is allowed. No terms give zeros.
void WeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out,
                 InstructionSet set = BestInstructionSet());

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_WEIGHTED_SUM_H_
