#include "topology/topology.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status.h"

namespace grapevine {

Registry<TopologyKind>& Topologies() {
  static auto* const topologies = new Registry<TopologyKind>("topology");
  return *topologies;
}

std::vector<std::string> AdvisedTopologies(Rank nodes) {
  std::vector<std::string> specs;
  for (const TopologyKind* kind : Topologies().All()) {
    if (!kind->advised) continue;
    for (std::string& spec : kind->advised(nodes)) specs.push_back(std::move(spec));
  }
  return specs;
}

absl::StatusOr<std::shared_ptr<const Topology>> MakeTopology(std::string_view text, Rank n,
                                                             uint64_t seed) {
  if (n < 1) {
    return SpecError(text, absl::StrCat("not for ", n, " nodes: there must be at least 1"));
  }
  constexpr Rank kMost = 1 << 24;  // a graph takes memory for each node
  if (n > kMost) {
    return SpecError(text, absl::StrCat("not for ", n, " nodes: there can be at most ", kMost));
  }
  ASSIGN_OR_RETURN(const auto named, Topologies().Read(text));
  return named.kind->make(named.spec, n, seed);
}

namespace {

absl::Status Refuse(std::string_view spec, Rank n, std::string_view rule,
                    std::string_view nearest) {
  return SpecError(spec,
                   absl::StrCat("not for ", n, n == 1 ? " node: " : " nodes: ", std::string(rule),
                                "; the nearest is n = ", std::string(nearest)));
}

}  // namespace

absl::Status SizeError(std::string_view spec, Rank n, std::string_view rule,
                       const std::function<bool(int64_t)>& works, int64_t least) {
  for (int64_t distance = std::max<int64_t>(1, least - n);; ++distance) {
    const int64_t below = n - distance, above = n + distance;
    const bool below_works = below >= least && works(below);
    const bool above_works = works(above);
    if (below_works && above_works) {
      return Refuse(spec, n, rule, absl::StrCat(below, " or ", above));
    }
    if (below_works || above_works) {
      return Refuse(spec, n, rule, absl::StrCat(below_works ? below : above));
    }
  }
}

absl::Status SizeError(std::string_view spec, Rank n, std::string_view rule, int64_t only) {
  return Refuse(spec, n, rule, absl::StrCat(only));
}

}  // namespace grapevine
