#include "algorithm/allreduce/allreduce_schedule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "algorithm/allreduce/halving_doubling_allreduce.h"
#include "algorithm/allreduce/ring_allreduce.h"
#include "algorithm/allreduce/tree_allreduce.h"
#include "algorithm/allreduce/two_level_allreduce.h"
#include "base/status_macros.h"
#include "topology/sides.h"

namespace grapevine {

namespace {

// The divisor of `size` closest to `wanted`; of two, the smaller.
Rank NearestDivisor(Rank size, double wanted) {
  Rank nearest = 1;
  const auto consider = [&](Rank divisor) {
    const double distance = std::abs(divisor - wanted), least = std::abs(nearest - wanted);
    if (distance < least || (distance == least && divisor < nearest)) nearest = divisor;
  };
  for (Rank divisor = 1; int64_t{divisor} * divisor <= size; ++divisor) {
    if (size % divisor != 0) continue;
    consider(divisor);
    consider(size / divisor);
  }
  return nearest;
}

absl::StatusOr<AllreduceFactory> ReadHierarchical(const Spec& spec, SpecReader& reader, Rank size) {
  const Rank fallback = NearestDivisor(size, std::sqrt(size));
  const Rank groups = static_cast<Rank>(reader.Integer("groups", fallback, 1, size));
  if (size % groups != 0) {
    return SpecError(spec.text, absl::StrCat(size, " nodes do not make ", groups,
                                             " groups of equal size; the nearest that do: groups=",
                                             NearestDivisor(size, groups)));
  }
  return [=](Rank rank) { return std::make_unique<HierarchicalAllreduce>(rank, size, groups); };
}

absl::StatusOr<AllreduceFactory> ReadTorus(const Spec& spec, SpecReader& reader, Rank size) {
  const std::string text = reader.Argument(absl::StrJoin(NearSquareSides(size), "x"));
  ASSIGN_OR_RETURN(const std::vector<Rank> sides, ParseSides(spec, text));
  if (sides.size() != 2 || ProductOf(sides) != size) {
    const Rank nearest = NearestDivisor(size, sides[0]);
    return SpecError(spec.text, absl::StrCat(text, " is not a grid of ", size,
                                             " nodes with two sides; the nearest that is: torus:",
                                             nearest, "x", size / nearest));
  }
  return [rows = sides[0], columns = sides[1]](Rank rank) {
    return std::make_unique<TorusAllreduce>(rank, rows, columns);
  };
}

template <typename Schedule>
absl::StatusOr<AllreduceFactory> ReadPlain(const Spec&, SpecReader&, Rank size) {
  return [size](Rank rank) { return std::make_unique<Schedule>(rank, size); };
}

struct Kind {
  const char* name;
  const char* options;
  absl::StatusOr<AllreduceFactory> (*read)(const Spec&, SpecReader&, Rank size);
};

constexpr Kind kKinds[] = {{"ring", "", ReadPlain<RingAllreduce>},
                           {"halving-doubling", "", ReadPlain<HalvingDoublingAllreduce>},
                           {"tree", "", ReadPlain<TreeAllreduce>},
                           {"hierarchical", "[:groups=G]", ReadHierarchical},
                           {"torus", "[:4x8]", ReadTorus}};

}  // namespace

absl::StatusOr<AllreduceFactory> ReadAllreduce(const Spec& spec, SpecReader& reader, Rank size) {
  const std::string name = reader.Argument(kKinds[0].name);
  const auto kind = std::ranges::find(kKinds, name, &Kind::name);
  if (kind != std::end(kKinds)) return kind->read(spec, reader, size);
  return SpecError(spec.text, absl::StrCat("there is no allreduce '", name,
                                           "'; known: ", absl::StrJoin(AllreduceKinds(), ", ")));
}

std::vector<std::string> AllreduceKinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

std::string AllreduceUsages() {
  std::string text;
  for (const Kind& kind : kKinds) {
    const bool last = &kind == &std::end(kKinds)[-1];
    absl::StrAppend(&text, text.empty() ? "" : last ? " or " : ", ", kind.name, kind.options);
  }
  return text;
}

}  // namespace grapevine
