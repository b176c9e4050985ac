// Recursive halving and doubling, for any n, in the latency of ceil(log2 n) steps each way and in
// no more bytes than a ring: 2 ceil(log2 n) alpha + 2 (n-1)/n M beta.
//
// Let n = 2^k q with q odd. For the factors of two, it uses Rabenseifner's reduce-scatter (Thakur,
// Rabenseifner and Gropp 2005): in level l, ranks 2^l apart exchange halves of their remaining
// range, the largest halves between the nearest ranks. For q, it uses a reduce-scatter over the
// circulant graph with halving skips (Träff 2024, arXiv:2410.14234), in which ranks send runs of
// pieces around a circle. No rank is folded into another one, which would send every byte once more
// each way.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "algorithm/allreduce/allreduce_kind.h"

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

// Returns `number` pieces of `range` from piece `first` on, wrapping around the end.
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

// A position keeps the pieces [position, position + skip) in every level. `skip` halves, rounding
// up, from `count` to 1.
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

class HalvingDoublingAllreduce final : public AllreduceSchedule {
 public:
  HalvingDoublingAllreduce(Rank rank, Rank size);

  std::string name() const override { return "allreduce:halving-doubling"; }
  int reduce_levels() const override;
  AllreduceStep ReduceStep(int level, int64_t elements) const override;

 private:
  const Rank rank_;
  const int halvings_;      // k
  const RankGroup circle_;  // the q ranks that keep the same share after the halvings
};

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

const Registration kHalvingDoublingAllreduce(
    Allreduces(), {.name = "halving-doubling",
                   .help = "between ranks 1, 2, 4, ... apart: the fewest bytes in the fewest steps",
                   .read = ReadPlainAllreduce<HalvingDoublingAllreduce>});

}  // namespace
}  // namespace grapevine
