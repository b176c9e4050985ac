#include "optim/replica_step.h"

#include <algorithm>
#include <vector>

namespace grapevine {

void ApplyStep(const Optimizer& optimizer, const ReplicaLayout& layout, const ReplicaStep& step,
               VectorTable& vectors) {
  std::vector<WeightedVector> mix;
  mix.reserve(step.mix.size());
  for (const Term& term : step.mix) {
    mix.push_back({static_cast<float>(term.weight), vectors.Slice(term.part).begin()});
  }
  const StepInput input{.mix = mix,
                        .own = vectors.At(step.own).data.get(),
                        .gradient = vectors.At(step.gradient).data.get(),
                        .gradient_scale = static_cast<float>(step.gradient_scale),
                        .learning_rate = static_cast<float>(step.learning_rate)};
  float* const state = vectors.At(step.state).data.get();
  float* const out = vectors.At(step.out).data.get();
  if (step.range.size == layout.size) {
    optimizer.Step(layout, input, state, out, vectors.passes());
  } else {
    optimizer.Step(layout.Within(step.range), input, state, out, vectors.passes());
  }
}

int64_t OptimizerStateSize(const Optimizer& optimizer, const ReplicaLayout& layout,
                           ReplicaRange range) {
  const int64_t parameters =
      std::clamp<int64_t>(layout.parameter_size - range.offset, 0, range.size);
  return optimizer.state_vectors() * parameters;
}

}  // namespace grapevine
