#include <cmath>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "optim/optimizer.h"
#include "optim/sgd.h"

namespace grapevine {
namespace {

// A spec's own numbers take precedence over the options.
absl::StatusOr<std::unique_ptr<Optimizer>> MakeSgd(const Spec& spec, OptimizerOptions options) {
  SpecReader reader(spec);
  options.momentum = reader.Real("momentum", options.momentum);
  options.weight_decay = reader.Real("weight_decay", options.weight_decay);
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  if (!(options.momentum >= 0 && options.momentum < 1)) {
    return SpecError(spec.text, absl::StrCat("momentum is ", options.momentum,
                                             "; it must be at least 0 and less than 1"));
  }
  if (!(options.weight_decay >= 0 && std::isfinite(options.weight_decay))) {
    return SpecError(spec.text, absl::StrCat("weight decay is ", options.weight_decay,
                                             "; it must be 0 or a positive number"));
  }
  if (options.nesterov && options.momentum == 0) {
    return SpecError(spec.text, "Nesterov needs a momentum greater than 0");
  }
  return std::make_unique<Sgd>(options);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeOptimizer(std::string_view text,
                                                         const OptimizerOptions& options) {
  absl::StatusOr<Spec> spec = ParseSpec(text);
  if (!spec.ok()) return spec.status();
  if (spec->name == "sgd") return MakeSgd(*spec, options);
  if (spec->name == "nesterov") {
    OptimizerOptions nesterov = options;
    nesterov.nesterov = true;
    return MakeSgd(*spec, nesterov);
  }
  return SpecError(text, "unknown optimizer; known: sgd, nesterov");
}

}  // namespace grapevine
