// Hierarchical allreduce: n ranks in g groups of k neighbours. Up a binomial tree
// inside each group, around a ring of the groups' first ranks, down the trees:
// 2 ceil(log2 k) (alpha + M beta) + 2(g-1) (alpha + M beta / g).
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_HIERARCHICAL_ALLREDUCE_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_HIERARCHICAL_ALLREDUCE_H_

#include "algorithm/allreduce/allreduce_schedule.h"
#include "algorithm/allreduce/rank_group.h"

namespace grapevine {

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

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_HIERARCHICAL_ALLREDUCE_H_
