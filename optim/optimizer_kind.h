// An optimizer's registration: its notation and factory.
//
// Register your own as this folder does: docs/extending.md.
//
// Thread-safety: immutable once registered; the functions are pure, safe from any thread.
#ifndef GRAPEVINE_OPTIM_OPTIMIZER_KIND_H_
#define GRAPEVINE_OPTIM_OPTIMIZER_KIND_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/registry.h"
#include "base/spec.h"
#include "optim/optimizer.h"

namespace grapevine {

struct OptimizerKind {
  std::string name;     // "sgd"
  std::string options;  // "[:momentum=0.9]"
  std::string help;     // one line
  // The specs that the contract suite runs (tests/optim); they should cover all variants.
  std::vector<std::string> examples;
  // The spec's own numbers take precedence over the options. Refuses unknown options.
  std::function<absl::StatusOr<std::unique_ptr<Optimizer>>(const Spec&, const OptimizerOptions&)>
      make;
};

// All optimizers of this program.
Registry<OptimizerKind>& Optimizers();

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_OPTIMIZER_KIND_H_
