// Allreduces in two levels, inside groups of ranks and between them, made of the phases of
// ring_allreduce.h and tree_allreduce.h.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "algorithm/allreduce/allreduce_kind.h"
#include "algorithm/allreduce/allreduce_schedule.h"
#include "algorithm/allreduce/ring_allreduce.h"
#include "algorithm/allreduce/tree_allreduce.h"
#include "base/status_macros.h"
#include "topology/sides.h"

namespace grapevine {
namespace {

// n ranks in g groups of k neighbours. Up a binomial tree inside each group, around a ring of
// the groups' first ranks, down the trees:
// 2 ceil(log2 k) (alpha + M beta) + 2(g-1) (alpha + M beta / g).
class HierarchicalAllreduce final : public AllreduceSchedule {
 public:
  // `groups` divides `size`.
  HierarchicalAllreduce(Rank rank, Rank size, Rank groups);

  std::string name() const override;
  int reduce_levels() const override;
  AllreduceStep ReduceStep(int level, int64_t elements) const override;

 private:
  const Rank rank_;
  const RankGroup leaders_;
  const RankGroup own_;  // the rank's group; its leader is the first
};

// 2-D torus allreduce (Mikami et al. 2018, arXiv:1811.05233): reduce-scatter
// along rows, allreduce of a row's share along columns, all-gather along rows.
// With rows of X ranks and columns of Y:
// 2(X-1) (alpha + M/X beta) + 2(Y-1) (alpha + M/(XY) beta).
class TorusAllreduce final : public AllreduceSchedule {
 public:
  // Ranks in row-major order, as in the topology torus:ROWSxCOLUMNS.
  TorusAllreduce(Rank rank, Rank rows, Rank columns);

  std::string name() const override;
  int reduce_levels() const override;
  AllreduceStep ReduceStep(int level, int64_t elements) const override;

 private:
  const Rank rank_;
  const RankGroup row_;     // of the rank
  const RankGroup column_;  // of the rank
};

HierarchicalAllreduce::HierarchicalAllreduce(Rank rank, Rank size, Rank groups)
    : rank_(rank),
      leaders_{.first = 0, .stride = size / groups, .count = groups},
      own_{.first = rank - rank % (size / groups), .stride = 1, .count = size / groups} {}

std::string HierarchicalAllreduce::name() const {
  return "allreduce:hierarchical:groups=" + std::to_string(leaders_.count);
}

int HierarchicalAllreduce::reduce_levels() const { return TreeLevels(own_) + RingLevels(leaders_); }

AllreduceStep HierarchicalAllreduce::ReduceStep(int level, int64_t elements) const {
  const ElementRange all{0, elements};
  if (level < TreeLevels(own_)) return TreeStep(own_, rank_, level, all);
  if (rank_ != own_.first) return {};
  return RingStep(leaders_, rank_, level - TreeLevels(own_), all);
}

TorusAllreduce::TorusAllreduce(Rank rank, Rank rows, Rank columns)
    : rank_(rank),
      row_{.first = rank - rank % columns, .stride = 1, .count = columns},
      column_{.first = rank % columns, .stride = columns, .count = rows} {}

std::string TorusAllreduce::name() const {
  return "allreduce:torus:" + std::to_string(column_.count) + "x" + std::to_string(row_.count);
}

int TorusAllreduce::reduce_levels() const { return RingLevels(row_) + RingLevels(column_); }

AllreduceStep TorusAllreduce::ReduceStep(int level, int64_t elements) const {
  const ElementRange all{0, elements};
  if (level < RingLevels(row_)) return RingStep(row_, rank_, level, all);
  return RingStep(column_, rank_, level - RingLevels(row_), RingResult(row_, rank_, all));
}

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
  return [=](Rank rank) { return OneSchedule<HierarchicalAllreduce>(rank, size, groups); };
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
    return OneSchedule<TorusAllreduce>(rank, rows, columns);
  };
}

const Registration kHierarchicalAllreduce(
    Allreduces(), {.name = "hierarchical",
                   .options = "[:groups=G]",
                   .help = "trees inside groups of ranks, a ring between them: for racks",
                   .read = ReadHierarchical});
const Registration kTorusAllreduce(
    Allreduces(),
    {.name = "torus",
     .options = "[:4x8]",
     .help = "rings along the rows and the columns of a grid: the fewest bytes between near ranks",
     .read = ReadTorus});

}  // namespace
}  // namespace grapevine
