#include "algorithm/allreduce/ring_allreduce.h"

#include "algorithm/allreduce/allreduce_kind.h"

namespace grapevine {

AllreduceStep RingStep(const RankGroup& group, Rank rank, int level, const ElementRange& range) {
  const Rank position = group.PositionOf(rank);
  const Rank sent = (position - level + group.count) % group.count;
  const Rank received = (sent + group.count - 1) % group.count;
  return {.to = group.Around(position + 1),
          .from = group.Around(position - 1),
          .sent = {Piece(range, sent, group.count)},
          .received = {Piece(range, received, group.count)}};
}

ElementRange RingResult(const RankGroup& group, Rank rank, const ElementRange& range) {
  return Piece(range, (group.PositionOf(rank) + 1) % group.count, group.count);
}

namespace {

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

 private:
  const Rank rank_;
  const RankGroup all_;
};

const Registration kRingAllreduce(Allreduces(),
                                  {.name = "ring",
                                   .help = "around a ring: the fewest bytes, the most steps",
                                   .read = ReadPlainAllreduce<RingAllreduce>});

}  // namespace
}  // namespace grapevine
