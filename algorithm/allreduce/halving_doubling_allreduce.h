// Recursive halving and doubling, for any n in the latency of ceil(log2 n) steps each way, and
// in no more bytes than a ring: 2 ceil(log2 n) alpha + 2 (n-1)/n M beta.
//
// n = 2^k q with q odd. For the factors of two, Rabenseifner's reduce-scatter (Thakur,
// Rabenseifner and Gropp 2005): in level l, ranks 2^l apart exchange halves of their remaining
// range, the largest halves between the nearest ranks. For q, a reduce-scatter over the
// circulant graph with halving skips (Träff 2024, arXiv:2410.14234), in which ranks send runs
// of pieces around a circle: no rank is folded into another one, which would send every byte
// once more each way.
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_HALVING_DOUBLING_ALLREDUCE_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_HALVING_DOUBLING_ALLREDUCE_H_

#include "algorithm/allreduce/allreduce_schedule.h"

namespace grapevine {

class HalvingDoublingAllreduce final : public AllreduceSchedule {
 public:
  HalvingDoublingAllreduce(Rank rank, Rank size);

  std::string name() const override { return "allreduce:halving-doubling"; }
  int reduce_levels() const override;
  AllreduceStep ReduceStep(int level, int64_t elements) const override;

 private:
  const Rank rank_;
  const int halvings_;      // k
  const RankGroup circle_;  // the q ranks that keep the same share after them
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_HALVING_DOUBLING_ALLREDUCE_H_
