#include "kernels/vector/vector_passes.h"

#include "kernels/passes/mix_and_step.h"
#include "kernels/vector/norms.h"

namespace grapevine {

void CpuPasses::WeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out) {
  grapevine::WeightedSum(terms, size, out);
}

void CpuPasses::MixAndStep(std::span<const WeightedVector> mix, const StepPass& step, int64_t size,
                           float* out) {
  std::visit([&](const auto& pass) { grapevine::MixAndStep(mix, pass, size, out); }, step);
}

void CpuPasses::ClipNorm(float* vector, int64_t size, double limit, double*) {
  grapevine::ClipNorm(vector, size, limit);
}

}  // namespace grapevine
