// The squared Euclidean norms of a flat vector's tensors: the divisors of optimizers with
// layer-wise rates (LARS, LAMB).
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_VECTOR_TENSOR_NORMS_H_
#define GRAPEVINE_KERNELS_VECTOR_TENSOR_NORMS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/passes/instruction_set.h"
#include "kernels/vector/replica_layout.h"

namespace grapevine {

// A tensor's place in the vector, a plain struct that can be copied to a GPU.
struct TensorSpan {
  int64_t offset = 0;       // elements
  int64_t size = 0;         // elements
  int64_t first_chunk = 0;  // chunks (ordered_sum.h) of the tensors before it
};

std::vector<TensorSpan> TensorSpans(std::span<const TensorView> tensors);

// The number of chunks of the tensors that TensorSpans returned.
int64_t TotalChunks(std::span<const TensorSpan> tensors);

// The sum of the squares of a tensor's elements, in double precision, in the order of
// ordered_sum.h, which fixes the bits, wherever the tensor lies. No double overflows or loses a
// float's square, but denormals count as 0 on threads that flush them and on GPUs; a tensor with
// NaN or infinity has that norm, one without elements 0.
double SquaredNorm(const float* tensor, int64_t size, InstructionSet set = BestInstructionSet());

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_TENSOR_NORMS_H_
