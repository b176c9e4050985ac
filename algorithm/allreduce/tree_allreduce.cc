#include "algorithm/allreduce/tree_allreduce.h"

#include "algorithm/allreduce/allreduce_kind.h"

namespace grapevine {

AllreduceStep TreeStep(const RankGroup& group, Rank rank, int level, const ElementRange& range) {
  const Rank position = group.PositionOf(rank);
  const Rank bit = Rank{1} << level;
  if (position % bit != 0) return {};  // has sent already
  if (position & bit) return {.to = group.At(position - bit), .sent = {range}};
  if (bit >= group.count - position) return {};  // nobody there
  return {.from = group.At(position + bit), .received = {range}};
}

namespace {

// Tree allreduce: the sum up a binomial tree to rank 0, and down the same tree.
// Whole vectors, level by level: 2 ceil(log2 n) (alpha + M beta).
class TreeAllreduce final : public AllreduceSchedule {
 public:
  TreeAllreduce(Rank rank, Rank size) : rank_(rank), all_{.count = size} {}

  std::string name() const override { return "allreduce:tree"; }
  int reduce_levels() const override { return TreeLevels(all_); }
  AllreduceStep ReduceStep(int level, int64_t elements) const override {
    return TreeStep(all_, rank_, level, {0, elements});
  }

 private:
  const Rank rank_;
  const RankGroup all_;
};

const Registration kTreeAllreduce(
    Allreduces(),
    {.name = "tree",
     .help = "whole vectors up a tree and down again: for models so small that only latency counts",
     .read = ReadPlainAllreduce<TreeAllreduce>});

}  // namespace
}  // namespace grapevine
