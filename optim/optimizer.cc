#include "optim/optimizer.h"

#include <algorithm>
#include <vector>

namespace grapevine {

// Weights act in single precision, products of them too.
void AverageBuffers(const ReplicaLayout& layout, const StepRequest& request, VectorTable& vectors) {
  const int64_t begin = layout.parameter_size;
  const int64_t size = layout.size - begin;
  if (size == 0) return;
  const float momentum = layout.buffer_momentum;
  std::vector<Term> terms;
  terms.reserve(request.mix.size() + 1);
  for (const Term& term : request.mix) {
    terms.push_back({(1 - momentum) * static_cast<float>(term.weight),
                     {term.part.vector, term.part.offset + begin, size}});
  }
  terms.push_back(
      {momentum * static_cast<float>(request.gradient_scale), {request.gradient, begin, size}});
  vectors.Combine({request.out, begin, size}, terms);
}

void ApplyStep(const Optimizer& optimizer, const ReplicaLayout& layout, const StepRequest& request,
               VectorTable& vectors) {
  if (request.range.size == layout.size) {
    optimizer.Step(layout, request, vectors);
  } else {
    optimizer.Step(layout.Within(request.range), request, vectors);
  }
}

int64_t OptimizerStateSize(const Optimizer& optimizer, const ReplicaLayout& layout,
                           ReplicaRange range) {
  const int64_t parameters =
      std::clamp<int64_t>(layout.parameter_size - range.offset, 0, range.size);
  return optimizer.state_vectors() * parameters;
}

}  // namespace grapevine
