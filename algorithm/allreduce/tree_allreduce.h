// Tree allreduce: the sum up a binomial tree to rank 0, and down the same tree.
// Whole vectors, level by level: 2 ceil(log2 n) (alpha + M beta).
//
// Its reduction up a binomial tree of a group of ranks is also a phase of the hierarchical
// allreduce. In level l, every position whose lowest set bit is l sends all it has to the
// position without that bit: after ceil(log2 count) levels position 0 has the sum.
//
// Thread-safety: pure functions, and an immutable schedule.
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

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_TREE_ALLREDUCE_H_
