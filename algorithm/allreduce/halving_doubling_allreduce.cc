#include "algorithm/allreduce/halving_doubling_allreduce.h"

#include <algorithm>
#include <bit>

namespace grapevine {
namespace {

RankGroup Circle(Rank rank, Rank size) {
  const Rank stride = size & -size;  // 2^k
  return {.first = rank % stride, .stride = stride, .count = size / stride};
}

// Levels of the circulant reduce-scatter: ceil(log2 count).
int CirculantLevels(const RankGroup& group) {
  return std::bit_width(static_cast<unsigned>(group.count - 1));
}

// `number` pieces of `range` from `first` on, around the end.
AllreduceStep::Ranges Run(const RankGroup& group, const ElementRange& range, Rank first,
                          Rank number) {
  first %= group.count;
  const Rank head = std::min(number, group.count - first);
  return {
      ElementRange{Piece(range, first, group.count).begin,
                   Piece(range, first + head - 1, group.count).end},
      ElementRange{range.begin, number == head ? range.begin
                                               : Piece(range, number - head - 1, group.count).end}};
}

// A position keeps the pieces [position, position + skip) in every level; skip
// halves, rounding up, from count to 1.
AllreduceStep CirculantStep(const RankGroup& group, Rank rank, int level,
                            const ElementRange& range) {
  Rank before = group.count;
  for (int l = 0; l < level; ++l) before -= before / 2;
  const Rank skip = before - before / 2;
  const Rank position = group.PositionOf(rank);
  return {.to = group.Around(position + skip),
          .from = group.Around(position - skip),
          .sent = Run(group, range, position + skip, before - skip),
          .received = Run(group, range, position, before - skip)};
}

}  // namespace

HalvingDoublingAllreduce::HalvingDoublingAllreduce(Rank rank, Rank size)
    : rank_(rank),
      halvings_(std::countr_zero(static_cast<unsigned>(size))),
      circle_(Circle(rank, size)) {}

int HalvingDoublingAllreduce::reduce_levels() const { return halvings_ + CirculantLevels(circle_); }

AllreduceStep HalvingDoublingAllreduce::ReduceStep(int level, int64_t elements) const {
  ElementRange range{0, elements};
  for (int halving = 0; halving < halvings_; ++halving) {
    const Rank distance = Rank{1} << halving;
    const Rank upper = (rank_ & distance) != 0 ? 1 : 0;
    const ElementRange kept = Piece(range, upper, 2);
    if (halving == level) {
      const Rank partner = rank_ ^ distance;
      return {
          .to = partner, .from = partner, .sent = {Piece(range, 1 - upper, 2)}, .received = {kept}};
    }
    range = kept;
  }
  return CirculantStep(circle_, rank_, level - halvings_, range);
}

}  // namespace grapevine
