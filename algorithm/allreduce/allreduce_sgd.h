// Allreduce SGD: x' = x - lr u((1/n) sum_j g_j(x)), the same x on every node.
//
// The baseline of the field, whatever allreduce sums the gradients, whole or in
// buckets that leave while the backward pass goes on. Batch statistics are
// averaged along with them.
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_ALLREDUCE_SGD_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_ALLREDUCE_SGD_H_

#include <vector>

#include "algorithm/algorithm.h"
#include "algorithm/allreduce/bucketed_sum.h"

namespace grapevine {

class AllreduceSgd final : public Algorithm {
 public:
  // One schedule for each bucket.
  AllreduceSgd(BucketedSum::Schedules schedules, AlgorithmOptions options);

  absl::Status On(const Event& event, Host& host) override;
  Round round() const override { return round_; }
  std::vector<Waiting> waiting_for() const override { return sum_.waiting_for(); }
  std::vector<Rank> Peers(Round from, Round to) const override;

 private:
  void OnStart(Host& host);
  absl::Status OnGradient(const GradientReady& event, Host& host);
  void BeginRound(Host& host);
  void EndRoundIfSummed(Host& host);
  void RestIfDone(Host& host);

  BucketedSum sum_;
  const AlgorithmOptions options_;

  Vec replica_;
  Vec gradient_;
  Vec optimizer_state_;

  Round round_ = 0;
  Round limit_ = 0;
  bool started_ = false;
  bool in_round_ = false;
  int64_t ready_from_ = 0;  // of this round's gradient; its size when nothing is
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_ALLREDUCE_SGD_H_
