// 2-D torus allreduce (Mikami et al. 2018, arXiv:1811.05233): reduce-scatter
// along rows, allreduce of a row's share along columns, all-gather along rows.
// With rows of X ranks and columns of Y:
// 2(X-1) (alpha + M/X beta) + 2(Y-1) (alpha + M/(XY) beta).
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_TORUS_ALLREDUCE_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_TORUS_ALLREDUCE_H_

#include "algorithm/allreduce/allreduce_schedule.h"
#include "algorithm/allreduce/rank_group.h"

namespace grapevine {

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

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_TORUS_ALLREDUCE_H_
