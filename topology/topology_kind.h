// A topology's registration: its notation, factory and traits, and the error that refuses a
// size.
//
// Register your own as topology/graphs does: docs/extending.md.
//
// Thread-safety: immutable once registered; the functions are pure, safe from any thread.
#ifndef GRAPEVINE_TOPOLOGY_TOPOLOGY_KIND_H_
#define GRAPEVINE_TOPOLOGY_TOPOLOGY_KIND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/registry.h"
#include "base/spec.h"
#include "topology/topology.h"

namespace grapevine {

struct TopologyKind {
  std::string name;     // "torus"
  std::string options;  // "[:4x8]"
  std::string help;     // one line
  // The specs that the contract suite runs (tests/topology); they should cover all variants.
  std::vector<std::string> examples;
  // What follows the name is a path, colons and all (base/registry.h).
  bool tail = false;
  // Its edges are drawn or given rather than follow from a formula: when nodes are lost, what is
  // left of them stays (weights/living_mixing.h).
  bool drawn = false;

  // Over n >= 1 nodes; a function of its arguments only. Errors name the spec, what is wrong
  // and, if another n would work, the nearest one (SizeError).
  std::function<absl::StatusOr<std::shared_ptr<const Topology>>(const Spec&, Rank n, uint64_t seed)>
      make;
  // The specs on which --advise compares gossip for this many nodes. Empty: none.
  std::function<std::vector<std::string>(Rank nodes)> advised = nullptr;
};

// All topologies of this program.
Registry<TopologyKind>& Topologies();

// "hypercube: not for 12 nodes: n must be a power of two; the nearest is n = 8 or 16". Every
// topology is defined for an n >= 1 or refuses it in these words.
//
// Refuses `spec` over n nodes because of `rule`, and names the sizes closest to
// n for which `works` holds (both, when one below is as close as one above).
// Some size above n must work.
absl::Status SizeError(std::string_view spec, Rank n, std::string_view rule,
                       const std::function<bool(int64_t)>& works);

// As above, where exactly one size works.
absl::Status SizeError(std::string_view spec, Rank n, std::string_view rule, int64_t only);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_TOPOLOGY_KIND_H_
