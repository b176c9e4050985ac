#include "kernels/vector/clip_norm.h"

#include "kernels/vector/tensor_norms.h"

namespace grapevine {
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
