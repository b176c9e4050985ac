// Allreduces in two levels, inside groups of ranks and between them, made of the phases of
// ring_allreduce.h and tree_allreduce.h.
//
// Thread-safety: immutable.
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_TWO_LEVEL_ALLREDUCE_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_TWO_LEVEL_ALLREDUCE_H_

#include "algorithm/allreduce/allreduce_schedule.h"

namespace grapevine {

// n ranks in g groups of k neighbours. Up a binomial tree inside each group, around a ring of
// the groups' first ranks, down the trees:
// 2 ceil(log2 k) (alpha + M beta) + 2(g-1) (alpha + M beta / g).
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

 private:
  const Rank rank_;
  const RankGroup row_;     // of the rank
  const RankGroup column_;  // of the rank
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_TWO_LEVEL_ALLREDUCE_H_
