// Euclidean norms: of a flat vector's tensors, the divisors of optimizers with layer-wise rates
// (LARS, LAMB), and clipping of a vector by its own (Pascanu, Mikolov and Bengio, arXiv:1211.5063,
// algorithm 1):
//
//   v <- v * limit / |v|   if |v| > limit
//
// Norms are sums in the order of ordered_sum.h: the bits do not depend on where a tensor lies, on
// the instruction set or on the device.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_VECTOR_NORMS_H_
#define GRAPEVINE_KERNELS_VECTOR_NORMS_H_

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/passes/instruction_set.h"
#include "kernels/passes/ordered_sum.h"
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

// The sum of the squares of a tensor's elements, in double precision. No double overflows or loses
// a float's square, but denormals count as 0 on threads that flush them and on GPUs; a tensor with
// NaN or infinity has that norm, one without elements 0.
double SquaredNorm(const float* tensor, int64_t size, InstructionSet set = BestInstructionSet());

// What clipping multiplies a vector by. At most 1; `limit` is positive.
GRAPEVINE_ELEMENTWISE float ClipFactor(double squared_norm, double limit) {
  const double norm = std::sqrt(squared_norm);
  return norm > limit ? static_cast<float>(limit / norm) : 1.0f;
}

// Doubles of scratch memory, in which a device keeps the norm: its chunks' sums and itself.
constexpr int64_t ClipScratch(int64_t size) { return ChunksOf(size) + 1; }

// Two sweeps, of which the second is left out where nothing is clipped. A norm of NaN clips
// nothing, and one of infinity leaves NaNs where there were infinities: what has diverged stays so.
void ClipNorm(float* vector, int64_t size, double limit, InstructionSet set = BestInstructionSet());

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_NORMS_H_
