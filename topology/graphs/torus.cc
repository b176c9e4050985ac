#include "topology/graphs/torus.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "topology/graphs/cayley_graph.h"
#include "topology/sides.h"
#include "topology/size_error.h"

namespace grapevine {
namespace {

// A step forward and one back along every side.
std::shared_ptr<const Topology> MakeGrid(std::string name, std::vector<Rank> sides) {
  CayleyGraph::Offsets offsets;
  for (size_t a = 0; a < sides.size(); ++a) {
    for (Rank step : {1, -1}) {
      offsets.emplace_back(sides.size(), 0)[a] = step;
    }
  }
  return std::make_shared<CayleyGraph>(std::move(name), std::move(sides),
                                       std::vector<CayleyGraph::Offsets>{std::move(offsets)});
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Topology>> MakeRing(const Spec& spec, Rank n, uint64_t) {
  RETURN_IF_ERROR(SpecReader(spec).Finish());
  return MakeGrid("ring", {n});
}

absl::StatusOr<std::shared_ptr<const Topology>> MakeTorus(const Spec& spec, Rank n, uint64_t) {
  SpecReader reader(spec);
  const std::string text = reader.Argument(absl::StrJoin(NearSquareSides(n), "x"));
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(auto sides, ParseSides(spec, text));
  if (ProductOf(sides) != n) {
    return SizeError(spec.text, n, "the sides multiply to another number", ProductOf(sides));
  }
  std::string name = absl::StrCat("torus:", absl::StrJoin(sides, "x"));
  return MakeGrid(std::move(name), std::move(sides));
}

}  // namespace grapevine
