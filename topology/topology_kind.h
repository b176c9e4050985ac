// What is registered of a topology: how it is written, how it is made, and its traits.
//
// One of your own registers like those of topology/graphs: docs/extending.md.
//
// Thread-safety: immutable once registered; the functions are pure, safe from any thread.
#ifndef GRAPEVINE_TOPOLOGY_TOPOLOGY_KIND_H_
#define GRAPEVINE_TOPOLOGY_TOPOLOGY_KIND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/registry.h"
#include "base/spec.h"
#include "topology/topology.h"

namespace grapevine {

struct TopologyKind {
  std::string name;     // "torus"
  std::string options;  // "[:4x8]"
  std::string help;     // one line
  // The specs that the contract suite runs (tests/topology): all that it can be.
  std::vector<std::string> examples;
  // What follows the name is a path, colons and all (base/registry.h).
  bool tail = false;

  // Over n nodes, at least 1; a function of its arguments alone. Errors name the spec, what
  // is wrong and, where some other n would do, the nearest one (topology/size_error.h).
  std::function<absl::StatusOr<std::shared_ptr<const Topology>>(const Spec&, Rank n, uint64_t seed)>
      make;
  // The specs on which --advise compares gossip among so many nodes. Empty: none.
  std::function<std::vector<std::string>(Rank nodes)> advised = nullptr;
};

// All topologies of this program.
Registry<TopologyKind>& Topologies();

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_TOPOLOGY_KIND_H_
