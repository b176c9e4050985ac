#include "optim/optimizer_kind.h"

namespace grapevine {

Registry<OptimizerKind>& Optimizers() {
  static auto* const optimizers = new Registry<OptimizerKind>("optimizer");
  return *optimizers;
}

absl::StatusOr<std::unique_ptr<Optimizer>> MakeOptimizer(std::string_view text,
                                                         const OptimizerOptions& options) {
  const absl::StatusOr<Spec> spec = ParseSpec(text);
  if (!spec.ok()) return spec.status();
  const absl::StatusOr<const OptimizerKind*> kind = Optimizers().Get(*spec);
  if (!kind.ok()) return kind.status();
  return (*kind)->make(*spec, options);
}

}  // namespace grapevine
