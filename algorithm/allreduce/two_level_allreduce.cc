#include "algorithm/allreduce/two_level_allreduce.h"

#include <string>

#include "algorithm/allreduce/ring_allreduce.h"
#include "algorithm/allreduce/tree_allreduce.h"

namespace grapevine {

HierarchicalAllreduce::HierarchicalAllreduce(Rank rank, Rank size, Rank groups)
    : rank_(rank),
      leaders_{.first = 0, .stride = size / groups, .count = groups},
      own_{.first = rank - rank % (size / groups), .stride = 1, .count = size / groups} {}

std::string HierarchicalAllreduce::name() const {
  return "allreduce:hierarchical:groups=" + std::to_string(leaders_.count);
}

int HierarchicalAllreduce::reduce_levels() const { return TreeLevels(own_) + RingLevels(leaders_); }

AllreduceStep HierarchicalAllreduce::ReduceStep(int level, int64_t elements) const {
  const ElementRange all{0, elements};
  if (level < TreeLevels(own_)) return TreeStep(own_, rank_, level, all);
  if (rank_ != own_.first) return {};
  return RingStep(leaders_, rank_, level - TreeLevels(own_), all);
}

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
