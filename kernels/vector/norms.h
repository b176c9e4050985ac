// Euclidean norms of a flat vector's tensors, by which optimizers with layer-wise rates (LARS,
// LAMB) divide; and clipping of a vector by its norm (Pascanu, Mikolov and Bengio,
// arXiv:1211.5063, algorithm 1):
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

// A tensor's place in the vector. A plain struct that can be copied to a GPU.
struct TensorSpan {
  int64_t offset = 0;       // elements
  int64_t size = 0;         // elements
  int64_t first_chunk = 0;  // number of chunks (ordered_sum.h) of the tensors before it
};

std::vector<TensorSpan> TensorSpans(std::span<const TensorView> tensors);

// Returns the number of chunks of `tensors`, a result of TensorSpans.
int64_t TotalChunks(std::span<const TensorSpan> tensors);

// Returns the sum of the squares of a tensor's elements, in double precision, which neither
// overflows nor loses a float's square. Denormals count as 0 on threads that flush them and on
// GPUs. The norm of a tensor with NaN or infinity is NaN or infinity; that of an empty tensor is 0.
double SquaredNorm(const float* tensor, int64_t size, InstructionSet set = BestInstructionSet());

// Returns the factor by which clipping multiplies a vector: at most 1. `limit` is positive.
GRAPEVINE_ELEMENTWISE float ClipFactor(double squared_norm, double limit) {
  const double norm = std::sqrt(squared_norm);
  return norm > limit ? static_cast<float>(limit / norm) : 1.0f;
}

// Returns the size, in doubles, of the scratch memory in which a device keeps the norm of a vector
// of `size` elements: the sums of its chunks, and the norm itself.
constexpr int64_t ClipScratch(int64_t size) { return ChunksOf(size) + 1; }

// Clips `vector` to the norm `limit`, in two sweeps; the second is left out if nothing is clipped.
// A norm of NaN clips nothing, and an infinite norm turns infinities into NaN: a vector that has
// diverged stays so.
void ClipNorm(float* vector, int64_t size, double limit, InstructionSet set = BestInstructionSet());

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_NORMS_H_
