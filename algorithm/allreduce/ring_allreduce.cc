#include "algorithm/allreduce/ring_allreduce.h"

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

}  // namespace grapevine
