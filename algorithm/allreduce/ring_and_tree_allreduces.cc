// Ring and tree allreduces, and the two-level allreduces that combine both, inside groups of ranks
// and between them: hierarchical and torus.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "algorithm/allreduce/allreduce_kind.h"
#include "base/status.h"
#include "topology/sides.h"

namespace grapevine {
namespace {

// The reduce-scatter around a ring of ranks: the first half of the ring allreduce, and a phase of
// the two-level ones. In level s, position p sends piece p-s to p+1 and adds what comes from p-1 to
// piece p-s-1. After count-1 levels the sum of piece p+1 is complete at p. The additions for piece
// c begin at position c and go around in order.
//
// In the all-gather, the second half, sums go on around the ring: in level s, position p sends
// piece p+1-s to p+1, and receives piece p-s, of which it has sent a part in level s. Turning
// around would cost a latency: the piece that would come first is the one that was sent last, and a
// neighbour could not know any earlier that its place is free.

int RingLevels(const RankGroup& group) { return group.count - 1; }

// The step of `rank`, which belongs to `group`, in level 0 .. RingLevels - 1 of a
// reduce-scatter of `range`.
AllreduceStep RingStep(const RankGroup& group, Rank rank, int level, const ElementRange& range) {
  const Rank position = group.PositionOf(rank);
  const Rank sent = (position - level + group.count) % group.count;
  const Rank received = (sent + group.count - 1) % group.count;
  return {.to = group.Around(position + 1),
          .from = group.Around(position - 1),
          .sent = {Piece(range, sent, group.count)},
          .received = {Piece(range, received, group.count)}};
}

// The step of `rank`, which belongs to `group`, in level 0 .. RingLevels - 1 of an all-gather of
// `range`.
AllreduceStep RingReturn(const RankGroup& group, Rank rank, int level, const ElementRange& range) {
  const Rank position = group.PositionOf(rank);
  const Rank received = (position - level + group.count) % group.count;
  const Rank sent = (received + 1) % group.count;
  return {.to = group.Around(position + 1),
          .from = group.Around(position - 1),
          .sent = {Piece(range, sent, group.count)},
          .received = {Piece(range, received, group.count)}};
}

// The piece of `range` whose sum ends at `rank`.
ElementRange RingResult(const RankGroup& group, Rank rank, const ElementRange& range) {
  return Piece(range, (group.PositionOf(rank) + 1) % group.count, group.count);
}

// Ring allreduce: reduce-scatter, then all-gather, around a ring (Patarasuk and
// Yuan 2009). 2(n-1) levels of M/n bytes each: 2(n-1) alpha + 2 (n-1)/n M beta.
class RingAllreduce final : public AllreduceSchedule {
 public:
  RingAllreduce(Rank rank, Rank size) : rank_(rank), all_{.count = size} {}

  std::string name() const override { return "allreduce:ring"; }
  int reduce_levels() const override { return RingLevels(all_); }
  AllreduceStep ReduceStep(int level, int64_t elements) const override {
    return RingStep(all_, rank_, level, {0, elements});
  }
  AllreduceStep ReturnStep(int level, int64_t elements) const override {
    return RingReturn(all_, rank_, level, {0, elements});
  }
  int SentIn(int level) const override { return level; }

 private:
  const Rank rank_;
  const RankGroup all_;
};

const Registration kRingAllreduce(Allreduces(),
                                  {.name = "ring",
                                   .help = "around a ring: the fewest bytes, the most steps",
                                   .read = ReadPlainAllreduce<RingAllreduce>});

// The reduction up a binomial tree of ranks: the first half of the tree allreduce, and a phase of
// the hierarchical one. In level l, every position whose lowest set bit is l sends all it has to
// the position without that bit. After ceil(log2 count) levels, position 0 has the sum.

// Returns ceil(log2 count).
int TreeLevels(const RankGroup& group) {
  return std::bit_width(static_cast<unsigned>(group.count - 1));
}

// The step of `rank`, which belongs to `group`, in level 0 .. TreeLevels - 1 of a
// reduction of `range` to the group's first rank.
AllreduceStep TreeStep(const RankGroup& group, Rank rank, int level, const ElementRange& range) {
  const Rank position = group.PositionOf(rank);
  const Rank bit = Rank{1} << level;
  if (position % bit != 0) return {};  // has sent already
  if (position & bit) return {.to = group.At(position - bit), .sent = {range}};
  if (bit >= group.count - position) return {};  // no rank at that position
  return {.from = group.At(position + bit), .received = {range}};
}

// Tree allreduce: the sum up a binomial tree to rank 0, and down the same tree.
// Whole vectors, level by level: 2 ceil(log2 n) (alpha + M beta).
class TreeAllreduce final : public AllreduceSchedule {
 public:
  TreeAllreduce(Rank rank, Rank size) : rank_(rank), all_{.count = size} {}

  std::string name() const override { return "allreduce:tree"; }
  int reduce_levels() const override { return TreeLevels(all_); }
  AllreduceStep ReduceStep(int level, int64_t elements) const override {
    return TreeStep(all_, rank_, level, {0, elements});
  }

 private:
  const Rank rank_;
  const RankGroup all_;
};

const Registration kTreeAllreduce(
    Allreduces(),
    {.name = "tree",
     .help = "whole vectors up a tree and down again: for models so small that only latency counts",
     .read = ReadPlainAllreduce<TreeAllreduce>});

// Hierarchical allreduce of n ranks in g groups of k neighbours: up a binomial tree inside each
// group, around a ring of the groups' first ranks, and down the trees.
// 2 ceil(log2 k) (alpha + M beta) + 2(g-1) (alpha + M beta / g).
class HierarchicalAllreduce final : public AllreduceSchedule {
 public:
  // `groups` must divide `size`.
  HierarchicalAllreduce(Rank rank, Rank size, Rank groups);

  std::string name() const override;
  int reduce_levels() const override;
  AllreduceStep ReduceStep(int level, int64_t elements) const override;
  AllreduceStep ReturnStep(int level, int64_t elements) const override;
  int SentIn(int level) const override;

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
  AllreduceStep ReturnStep(int level, int64_t elements) const override;
  int SentIn(int level) const override;

 private:
  const Rank rank_;
  const RankGroup row_;     // the row of the rank
  const RankGroup column_;  // the column of the rank
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

// The second half runs around the leaders' ring first, then down the trees.
AllreduceStep HierarchicalAllreduce::ReturnStep(int level, int64_t elements) const {
  if (level >= RingLevels(leaders_)) return AllreduceSchedule::ReturnStep(level, elements);
  if (rank_ != own_.first) return {};
  return RingReturn(leaders_, rank_, level, {0, elements});
}

int HierarchicalAllreduce::SentIn(int level) const {
  return level < RingLevels(leaders_) ? TreeLevels(own_) + level : AllreduceSchedule::SentIn(level);
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

// The second half runs along the columns first, then along the rows.
AllreduceStep TorusAllreduce::ReturnStep(int level, int64_t elements) const {
  const ElementRange all{0, elements};
  if (level < RingLevels(column_)) {
    return RingReturn(column_, rank_, level, RingResult(row_, rank_, all));
  }
  return RingReturn(row_, rank_, level - RingLevels(column_), all);
}

int TorusAllreduce::SentIn(int level) const {
  return level < RingLevels(column_) ? RingLevels(row_) + level : level - RingLevels(column_);
}

// Returns the divisor of `size` closest to `wanted`; the smaller one if two are equally close.
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
