// The reduce-scatter around a ring of ranks: the first half of the ring allreduce, and a phase of
// the two-level ones. In level s, position p sends piece p-s to p+1 and adds to piece p-s-1 what
// comes from p-1. After count-1 levels the sum of piece p+1 is complete at p. The additions for
// piece c begin at position c and go around in order.
//
// Thread-safety: pure functions.
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

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_RING_ALLREDUCE_H_
