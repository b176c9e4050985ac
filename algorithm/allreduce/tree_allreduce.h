// Tree allreduce: the sum up a binomial tree to rank 0, and down the same tree.
// Whole vectors, level by level: 2 ceil(log2 n) (alpha + M beta).
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_TREE_ALLREDUCE_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_TREE_ALLREDUCE_H_

#include "algorithm/allreduce/allreduce_schedule.h"
#include "algorithm/allreduce/tree_phase.h"

namespace grapevine {

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
