// What is registered of an optimizer: how it is written, and how it is made.
//
// One of your own registers like those of this folder: docs/extending.md.
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
  // The specs that the contract suite runs (tests/optim): all that it can be.
  std::vector<std::string> examples;
  // The spec's own numbers take precedence over the options. Refuses what it does not know.
  std::function<absl::StatusOr<std::unique_ptr<Optimizer>>(const Spec&, const OptimizerOptions&)>
      make;
};

// All optimizers of this program.
Registry<OptimizerKind>& Optimizers();

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_OPTIMIZER_KIND_H_
