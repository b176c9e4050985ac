// ring and torus: a grid of any dimension whose sides close into circles.
//
// Thread-safety: pure functions.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "topology/graphs/cayley_graph.h"
#include "topology/sides.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

// Makes a grid in which each node sends one step forward and one step back along every side.
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

// "ring"; any n.
absl::StatusOr<std::shared_ptr<const Topology>> MakeRing(const Spec& spec, Rank n, uint64_t) {
  RETURN_IF_ERROR(SpecReader(spec).Finish());
  return MakeGrid("ring", {n});
}

// "torus" (two sides as near to each other as n allows: 1 x n for a prime) or
// "torus:4x8", "torus:4x4x2", in row-major order. A side of 2 gives one
// neighbour and a side of 1 none.
absl::StatusOr<std::shared_ptr<const Topology>> MakeTorus(const Spec& spec, Rank n, uint64_t) {
  SpecReader reader(spec);
  const std::string text = reader.Argument(absl::StrJoin(NearSquareSides(n), "x"));
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(auto sides, ParseSides(spec, text));
  if (ProductOf(sides) != n) {
    return SizeError(spec.text, n, "the product of the sides is another number", ProductOf(sides));
  }
  std::string name = absl::StrCat("torus:", absl::StrJoin(sides, "x"));
  return MakeGrid(std::move(name), std::move(sides));
}

const Registration kRing(Topologies(),
                         {.name = "ring",
                          .help = "two neighbours each",
                          .examples = {"ring"},
                          .make = MakeRing,
                          .advised = [](Rank) { return std::vector<std::string>{"ring"}; }});

const Registration kTorus(Topologies(),
                          {.name = "torus",
                           .options = "[:4x8]",
                           .help = "a grid that wraps around on all sides",
                           .examples = {"torus", "torus:1x5", "torus:2x2", "torus:4x8",
                                        "torus:3x2x4"},
                           .make = MakeTorus,
                           .advised = [](Rank) { return std::vector<std::string>{"torus"}; }});

}  // namespace
}  // namespace grapevine
