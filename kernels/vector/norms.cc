#include "kernels/vector/norms.h"

#include <cstddef>

#include "kernels/passes/ordered_sum.h"

namespace grapevine {
namespace {

struct SquaredNormKernel {
  struct Term {
    const float* tensor;
    GRAPEVINE_ELEMENTWISE double operator()(int64_t i) const { return Square(tensor[i]); }
  };
  struct SumOfSquares {
    Term term;
    GRAPEVINE_ELEMENTWISE double operator()(int64_t begin, int64_t end) const {
      return ChunkSum(begin, end, term);
    }
  };

  GRAPEVINE_INLINE static void Run(const float* tensor, int64_t size, double* norm) {
    *norm = SumOfChunks(size, SumOfSquares{{tensor}});
  }
};

}  // namespace

std::vector<TensorSpan> TensorSpans(std::span<const TensorView> tensors) {
  std::vector<TensorSpan> spans;
  int64_t chunks = 0;
  for (const TensorView& tensor : tensors) {
    spans.push_back({.offset = tensor.offset, .size = tensor.size, .first_chunk = chunks});
    chunks += ChunksOf(tensor.size);
  }
  return spans;
}

int64_t TotalChunks(std::span<const TensorSpan> tensors) {
  return tensors.empty() ? 0 : tensors.back().first_chunk + ChunksOf(tensors.back().size);
}

double SquaredNorm(const float* tensor, int64_t size, InstructionSet set) {
  double norm;
  RunKernel<SquaredNormKernel>(set, tensor, size, &norm);
  return norm;
}

namespace {

struct ScaleKernel {
  GRAPEVINE_INLINE static void Run(float* __restrict vector, int64_t size, float factor) {
    for (int64_t i = 0; i < size; ++i) vector[i] *= factor;
  }
};

}  // namespace

void ClipNorm(float* vector, int64_t size, double limit, InstructionSet set) {
  const float factor = ClipFactor(SquaredNorm(vector, size, set), limit);
  if (factor != 1) RunKernel<ScaleKernel>(set, vector, size, factor);
}

}  // namespace grapevine
