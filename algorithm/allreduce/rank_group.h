// Ranks that take part in something together: all, a row, a column, the leaders.
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_RANK_GROUP_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_RANK_GROUP_H_

#include "base/ids.h"

namespace grapevine {

inline constexpr Rank kNobody = -1;

// first, first + stride, ..., `count` of them. A value.
struct RankGroup {
  Rank first = 0;
  Rank stride = 1;
  Rank count = 1;

  // Of position 0 .. count-1.
  Rank At(Rank position) const { return first + stride * position; }
  // Where the positions close into a circle.
  Rank Around(int64_t position) const {
    return At(static_cast<Rank>((position % count + count) % count));
  }
  // Of a rank that belongs to it.
  Rank PositionOf(Rank rank) const { return (rank - first) / stride; }
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_RANK_GROUP_H_
