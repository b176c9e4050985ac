#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/spec.h"
#include "base/status_macros.h"
#include "topology/files/graph_file.h"
#include "topology/graphs/complete.h"
#include "topology/graphs/exponential.h"
#include "topology/graphs/hypercube.h"
#include "topology/graphs/path.h"
#include "topology/graphs/random_graph.h"
#include "topology/graphs/random_matching.h"
#include "topology/graphs/star.h"
#include "topology/graphs/torus.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

using Factory = absl::StatusOr<std::shared_ptr<const Topology>> (*)(const Spec&, Rank, uint64_t);

const std::map<std::string, Factory>& Factories() {
  static const auto* const factories = new std::map<std::string, Factory>{
      {"complete", MakeComplete},
      {"erdos-renyi", MakeErdosRenyi},
      {"exponential", MakeExponential},
      {"hypercube", MakeHypercube},
      {"one-peer-exponential", MakeOnePeerExponential},
      {"path", MakePath},
      {"random", MakeRandomRegular},
      {"random-matching", MakeRandomMatching},
      {"ring", MakeRing},
      {"small-world", MakeSmallWorld},
      {"star", MakeStar},
      {"torus", MakeTorus},
  };
  return *factories;
}

}  // namespace

std::vector<std::string> TopologyNames() {
  std::vector<std::string> names;
  for (const auto& [name, factory] : Factories()) names.push_back(name);
  names.push_back("file:PATH");
  return names;
}

absl::StatusOr<std::shared_ptr<const Topology>> MakeTopology(std::string_view text, Rank n,
                                                             uint64_t seed) {
  if (n < 1)
    return SpecError(text, absl::StrCat("not for ", n, " nodes: there must be at least 1"));
  // A path may contain colons: it is not taken apart.
  if (text.starts_with("file:")) return LoadGraphFile(text.substr(5), n);
  ASSIGN_OR_RETURN(auto spec, ParseSpec(text));
  const auto factory = Factories().find(spec.name);
  if (factory == Factories().end()) {
    return SpecError(text, absl::StrCat("unknown topology '", spec.name, "'; known are ",
                                        absl::StrJoin(TopologyNames(), ", ")));
  }
  return factory->second(spec, n, seed);
}

}  // namespace grapevine
