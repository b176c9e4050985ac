// Element-wise passes over tensors of one format, padding included.
//
// ReLU keeps a NaN, so that a diverged run shows in its loss.
// Thread-safety: pure functions. Internal to kernels/tensor/.
#ifndef GRAPEVINE_KERNELS_TENSOR_CPU_ELEMENTWISE_H_
#define GRAPEVINE_KERNELS_TENSOR_CPU_ELEMENTWISE_H_

#include <cstdint>
#include <span>

#include "kernels/passes/instruction_set.h"

namespace grapevine {

// sum <- sum + terms, in their order.
void SumInto(float* sum, std::span<float* const> terms, int64_t size,
             InstructionSet set = BestInstructionSet());

// gradient <- 0 where y <= 0: ReLU's gradient, given its output.
void MaskByOutput(const float* y, float* gradient, int64_t size,
                  InstructionSet set = BestInstructionSet());

// y <- max(x, 0); y may be x.
void ReluInto(const float* x, float* y, int64_t size, InstructionSet set = BestInstructionSet());

// y <- a + b, then ReLU where asked.
void AddInto(const float* a, const float* b, bool relu, float* y, int64_t size,
             InstructionSet set = BestInstructionSet());

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CPU_ELEMENTWISE_H_
