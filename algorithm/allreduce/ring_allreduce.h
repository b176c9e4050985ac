// Ring allreduce: reduce-scatter, then all-gather, around a ring (Patarasuk and
// Yuan 2009). 2(n-1) levels of M/n bytes each: 2(n-1) alpha + 2 (n-1)/n M beta.
//
// Its reduce-scatter around a group of ranks is also a phase of the two-level allreduces. In
// level s, position p sends piece p-s to p+1 and adds to piece p-s-1 what comes from p-1. After
// count-1 levels the sum of piece p+1 is complete at p. The additions for piece c begin at
// position c and go around in order.
//
// Thread-safety: pure functions, and an immutable schedule.
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_RING_ALLREDUCE_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_RING_ALLREDUCE_H_

#include "algorithm/allreduce/allreduce_schedule.h"

namespace grapevine {

inline int RingLevels(const RankGroup& group) { return group.count - 1; }

// The step of `rank`, which belongs to `group`, in level 0 .. RingLevels - 1 of a
// reduce-scatter of `range`.
AllreduceStep RingStep(const RankGroup& group, Rank rank, int level, const ElementRange& range);

// The piece of `range` whose sum ends at `rank`.
ElementRange RingResult(const RankGroup& group, Rank rank, const ElementRange& range);

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
