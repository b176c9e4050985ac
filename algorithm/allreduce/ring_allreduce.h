// Ring allreduce: reduce-scatter, then all-gather, around a ring (Patarasuk and
// Yuan 2009). 2(n-1) levels of M/n bytes each: 2(n-1) alpha + 2 (n-1)/n M beta.
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_RING_ALLREDUCE_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_RING_ALLREDUCE_H_

#include "algorithm/allreduce/allreduce_schedule.h"
#include "algorithm/allreduce/ring_phase.h"

namespace grapevine {

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

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_RING_ALLREDUCE_H_
