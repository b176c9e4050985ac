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

// Bounds of options. With a beta of 1 a mean would never move; an epsilon of 0 would divide 0 by 0
// where a gradient has always been 0.
inline constexpr double kLargestBeta = 0.999999;
inline constexpr double kSmallestEpsilon = 1e-30;

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
