#include "topology/torus.h"

#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "topology/cayley_graph.h"
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

std::vector<Rank> NearSquare(Rank n) {
  Rank rows = 1;
  for (Rank divisor = 1; int64_t{divisor} * divisor <= n; ++divisor) {
    if (n % divisor == 0) rows = divisor;
  }
  return {rows, n / rows};
}

absl::StatusOr<std::vector<Rank>> ParseSides(const Spec& spec, const std::string& text, Rank n) {
  std::vector<Rank> sides;
  __int128 product = 1;
  for (const std::string& field : std::vector<std::string>(absl::StrSplit(text, 'x'))) {
    Rank side = 0;
    if (!absl::SimpleAtoi(field, &side) || side < 1) {
      return SpecError(spec.text,
                       absl::StrCat("'", field, "' is not the length of a side; write 4x8"));
    }
    sides.push_back(side);
    product *= side;
    if (product > std::numeric_limits<Rank>::max()) {
      return SpecError(spec.text, "more nodes than fit 31 bits");
    }
  }
  if (product != n) {
    return SizeError(spec.text, n, "the sides multiply to another number",
                     static_cast<int64_t>(product));
  }
  return sides;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Topology>> MakeRing(const Spec& spec, Rank n, uint64_t) {
  if (absl::Status status = SpecReader(spec).Finish(); !status.ok()) return status;
  return MakeGrid("ring", {n});
}

absl::StatusOr<std::shared_ptr<const Topology>> MakeTorus(const Spec& spec, Rank n, uint64_t) {
  SpecReader reader(spec);
  const std::string text = reader.Argument(absl::StrJoin(NearSquare(n), "x"));
  if (absl::Status status = reader.Finish(); !status.ok()) return status;
  auto sides = ParseSides(spec, text, n);
  if (!sides.ok()) return sides.status();
  std::string name = absl::StrCat("torus:", absl::StrJoin(*sides, "x"));
  return MakeGrid(std::move(name), *std::move(sides));
}

}  // namespace grapevine
