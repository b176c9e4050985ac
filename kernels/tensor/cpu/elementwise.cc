#include "kernels/tensor/cpu/elementwise.h"

namespace grapevine {
namespace {

struct AddTermKernel {
  GRAPEVINE_INLINE static void Run(float* sum, const float* term, int64_t size) {
    for (int64_t i = 0; i < size; ++i) sum[i] += term[i];
  }
};

struct MaskKernel {
  GRAPEVINE_INLINE static void Run(const float* y, float* gradient, int64_t size) {
    for (int64_t i = 0; i < size; ++i) gradient[i] = y[i] > 0 ? gradient[i] : 0.0f;
  }
};

struct ReluKernel {
  GRAPEVINE_INLINE static void Run(const float* x, float* y, int64_t size) {
    for (int64_t i = 0; i < size; ++i) y[i] = x[i] < 0 ? 0.0f : x[i];
  }
};

template <bool kRelu>
struct AddKernel {
  GRAPEVINE_INLINE static void Run(const float* a, const float* b, float* y, int64_t size) {
    for (int64_t i = 0; i < size; ++i) {
      const float sum = a[i] + b[i];
      y[i] = kRelu && sum < 0 ? 0.0f : sum;
    }
  }
};

}  // namespace

void SumInto(float* sum, std::span<float* const> terms, int64_t size, InstructionSet set) {
  for (const float* term : terms) RunKernel<AddTermKernel>(set, sum, term, size);
}

void MaskByOutput(const float* y, float* gradient, int64_t size, InstructionSet set) {
  RunKernel<MaskKernel>(set, y, gradient, size);
}

void ReluInto(const float* x, float* y, int64_t size, InstructionSet set) {
  RunKernel<ReluKernel>(set, x, y, size);
}

void AddInto(const float* a, const float* b, bool relu, float* y, int64_t size,
             InstructionSet set) {
  if (relu) return RunKernel<AddKernel<true>>(set, a, b, y, size);
  RunKernel<AddKernel<false>>(set, a, b, y, size);
}

}  // namespace grapevine
