// The registration of mixing weights: their notation and factory.
//
// Register your own as this folder does: docs/extending.md.
//
// Thread-safety: immutable once registered; the functions are pure, safe from any thread.
#ifndef GRAPEVINE_TOPOLOGY_WEIGHTS_MIXING_KIND_H_
#define GRAPEVINE_TOPOLOGY_WEIGHTS_MIXING_KIND_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/registry.h"
#include "base/spec.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace grapevine {

struct MixingKind {
  std::string name;     // "metropolis"
  std::string options;  // "[:MIXING]"
  std::string help;     // one line
  // The specs that the contract suite runs (tests/topology), where a graph accepts them.
  std::vector<std::string> examples;
  // What follows the name is a path or another spec, colons and all (base/registry.h).
  bool tail = false;

  // A doubly or column-stochastic matrix, or an error that says why there is none on this graph.
  std::function<absl::StatusOr<std::shared_ptr<const Mixing>>(
      const Spec&, std::shared_ptr<const Topology> topology)>
      make;
};

// All mixing weights of this program.
Registry<MixingKind>& Mixings();

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_WEIGHTS_MIXING_KIND_H_
