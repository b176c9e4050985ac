// The squared Euclidean distance of two replicas, for the consensus distance.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_PASSES_DISTANCE_H_
#define GRAPEVINE_KERNELS_PASSES_DISTANCE_H_

#include <cstdint>

#include "kernels/passes/instruction_set.h"

namespace grapevine {

// sum_i (a_i - b_i)^2 in double precision, in the order of ordered_sum.h, which
// fixes the bits. NaN where a or b has one, or both the same infinity; infinite
// where one of them is.
double SquaredDistance(const float* a, const float* b, int64_t size,
                       InstructionSet set = BestInstructionSet());

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_DISTANCE_H_
