#include "optim/buffer_average.h"

#include <vector>

namespace grapevine {

void AverageBuffers(const ReplicaLayout& layout, const StepInput& input, float* out,
                    VectorPasses& passes) {
  const int64_t begin = layout.parameter_size;
  if (begin == layout.size) return;
  const float momentum = layout.buffer_momentum;
  std::vector<WeightedVector> terms;
  terms.reserve(input.mix.size() + 1);
  for (const WeightedVector& term : input.mix) {
    terms.push_back({(1 - momentum) * term.weight, term.vector + begin});
  }
  terms.push_back({momentum * input.gradient_scale, input.gradient + begin});
  passes.WeightedSum(terms, layout.size - begin, out + begin);
}

}  // namespace grapevine
