#include "optim/optimizer_kind.h"

#include "base/status_macros.h"

namespace grapevine {

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
