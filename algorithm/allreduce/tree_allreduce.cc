#include "algorithm/allreduce/tree_allreduce.h"

namespace grapevine {

AllreduceStep TreeStep(const RankGroup& group, Rank rank, int level, const ElementRange& range) {
  const Rank position = group.PositionOf(rank);
  const Rank bit = Rank{1} << level;
  if (position % bit != 0) return {};  // has sent already
  if (position & bit) return {.to = group.At(position - bit), .sent = {range}};
  if (bit >= group.count - position) return {};  // nobody there
  return {.from = group.At(position + bit), .received = {range}};
}

}  // namespace grapevine
