#include "kernels/vector/tensor_norms.h"

#include <cstddef>

#include "kernels/passes/ordered_sum.h"

namespace grapevine {
namespace {

int64_t ChunksOfTensor(const TensorSpan& tensor) {
  return ChunksOf(tensor.offset, tensor.offset + tensor.size);
}

struct SquaredNormKernel {
  struct Term {
    const float* vector;
    GRAPEVINE_ELEMENTWISE double operator()(int64_t i) const { return Square(vector[i]); }
  };

  GRAPEVINE_INLINE static void Run(const float* vector, const TensorSpan& tensor, double* norm) {
    *norm = OrderedSum(tensor.offset, tensor.offset + tensor.size, Term{vector});
  }
};

}  // namespace

std::vector<TensorSpan> TensorSpans(std::span<const TensorView> tensors) {
  std::vector<TensorSpan> spans;
  int64_t chunks = 0;
  for (const TensorView& tensor : tensors) {
    spans.push_back({.offset = tensor.offset, .size = tensor.size, .first_chunk = chunks});
    chunks += ChunksOfTensor(spans.back());
  }
  return spans;
}

int64_t TotalChunks(std::span<const TensorSpan> tensors) {
  return tensors.empty() ? 0 : tensors.back().first_chunk + ChunksOfTensor(tensors.back());
}

void TensorSquaredNorms(const float* vector, std::span<const TensorSpan> tensors, double* norms,
                        InstructionSet set) {
  for (size_t t = 0; t < tensors.size(); ++t) {
    RunKernel<SquaredNormKernel>(set, vector, tensors[t], norms + t);
  }
}

}  // namespace grapevine
