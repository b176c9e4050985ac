#include "algorithm/allreduce/hierarchical_allreduce.h"

#include <string>

#include "algorithm/allreduce/ring_phase.h"
#include "algorithm/allreduce/tree_phase.h"

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

}  // namespace grapevine
