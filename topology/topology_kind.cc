#include "topology/topology_kind.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace grapevine {

Registry<TopologyKind>& Topologies() {
  static auto* const topologies = new Registry<TopologyKind>("topology");
  return *topologies;
}

absl::StatusOr<std::shared_ptr<const Topology>> MakeTopology(std::string_view text, Rank n,
                                                             uint64_t seed) {
  if (n < 1) {
    return SpecError(text, absl::StrCat("not for ", n, " nodes: there must be at least 1"));
  }
  ASSIGN_OR_RETURN(const auto named, Topologies().Read(text));
  return named.kind->make(named.spec, n, seed);
}

}  // namespace grapevine
