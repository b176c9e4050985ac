#include "optim/optimizer.h"

#include <glog/logging.h>

#include <algorithm>
#include <vector>

#include "base/status.h"

namespace grapevine {

// Weights, and products of weights, act in single precision.
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
  const TensorView* const cut = CutTensor(optimizer, layout, {&request.range, 1});
  CHECK(cut == nullptr) << optimizer.name() << " is to step a part of " << cut->name;
  if (request.range.size == layout.size) {
    optimizer.Step(layout, request, vectors);
  } else {
    optimizer.Step(layout.Within(request.range), request, vectors);
  }
}

int64_t ScratchOffset(const Optimizer& optimizer, int64_t parameters) {
  return (optimizer.state_vectors() * parameters + 1) / 2 * 2;
}

int64_t OptimizerStateSize(const Optimizer& optimizer, const ReplicaLayout& layout,
                           ReplicaRange range) {
  const int64_t parameters =
      std::clamp<int64_t>(layout.parameter_size - range.offset, 0, range.size);
  const int64_t scratch = optimizer.scratch(layout.Within(range));
  return scratch == 0 ? optimizer.state_vectors() * parameters
                      : ScratchOffset(optimizer, parameters) + scratch;
}

const TensorView* CutTensor(const Optimizer& optimizer, const ReplicaLayout& layout,
                            std::span<const ReplicaRange> ranges) {
  const auto cut_by = [](const TensorView& tensor, const ReplicaRange& range) {
    const int64_t begin = std::max(tensor.offset, range.offset);
    const int64_t end = std::min(tensor.offset + tensor.size, range.offset + range.size);
    return begin < end && end - begin < tensor.size;
  };
  for (const TensorView& tensor : layout.parameters) {
    if (!optimizer.needs_whole(tensor)) continue;
    for (const ReplicaRange& range : ranges) {
      if (cut_by(tensor, range)) return &tensor;
    }
  }
  return nullptr;
}

Registry<OptimizerKind>& Optimizers() {
  static auto* const optimizers = new Registry<OptimizerKind>("optimizer");
  return *optimizers;
}

absl::StatusOr<std::unique_ptr<Optimizer>> MakeOptimizer(std::string_view text,
                                                         const OptimizerOptions& options) {
  ASSIGN_OR_RETURN(const auto named, Optimizers().Read(text));
  return named.kind->make(named.spec, options);
}

}  // namespace grapevine
