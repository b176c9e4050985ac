#include "algorithm/allreduce/torus_allreduce.h"

#include <string>

#include "algorithm/allreduce/ring_phase.h"

namespace grapevine {

TorusAllreduce::TorusAllreduce(Rank rank, Rank rows, Rank columns)
    : rank_(rank),
      row_{.first = rank - rank % columns, .stride = 1, .count = columns},
      column_{.first = rank % columns, .stride = columns, .count = rows} {}

std::string TorusAllreduce::name() const {
  return "allreduce:torus:" + std::to_string(column_.count) + "x" + std::to_string(row_.count);
}

int TorusAllreduce::reduce_levels() const { return RingLevels(row_) + RingLevels(column_); }

AllreduceStep TorusAllreduce::ReduceStep(int level, int64_t elements) const {
  const ElementRange all{0, elements};
  if (level < RingLevels(row_)) return RingStep(row_, rank_, level, all);
  return RingStep(column_, rank_, level - RingLevels(row_), RingResult(row_, rank_, all));
}

}  // namespace grapevine
