#include "topology/graphs/torus.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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
  if (absl::Status status = SpecReader(spec).Finish(); !status.ok()) return status;
  return MakeGrid("ring", {n});
}

absl::StatusOr<std::shared_ptr<const Topology>> MakeTorus(const Spec& spec, Rank n, uint64_t) {
  SpecReader reader(spec);
  const std::string text = reader.Argument(absl::StrJoin(NearSquareSides(n), "x"));
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  auto sides = ParseSides(spec, text);
  if (!sides.ok()) return sides.status();
  if (ProductOf(*sides) != n) {
    return SizeError(spec.text, n, "the sides multiply to another number", ProductOf(*sides));
  }
  std::string name = absl::StrCat("torus:", absl::StrJoin(*sides, "x"));
  return MakeGrid(std::move(name), *std::move(sides));
}

}  // namespace grapevine
