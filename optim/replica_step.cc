#include "optim/replica_step.h"

#include <algorithm>

namespace grapevine {

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
