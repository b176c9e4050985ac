// The reduction up a binomial tree of ranks: the first half of the tree allreduce, and a phase of
// the hierarchical one. In level l, every position whose lowest set bit is l sends all it has to
// the position without that bit: after ceil(log2 count) levels position 0 has the sum.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_TREE_ALLREDUCE_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_TREE_ALLREDUCE_H_

#include <bit>

#include "algorithm/allreduce/allreduce_schedule.h"

namespace grapevine {

// ceil(log2 count).
inline int TreeLevels(const RankGroup& group) {
  return std::bit_width(static_cast<unsigned>(group.count - 1));
}

// The step of `rank`, which belongs to `group`, in level 0 .. TreeLevels - 1 of a
// reduction of `range` to the group's first rank.
AllreduceStep TreeStep(const RankGroup& group, Rank rank, int level, const ElementRange& range);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_TREE_ALLREDUCE_H_
