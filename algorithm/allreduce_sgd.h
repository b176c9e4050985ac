// Allreduce SGD: x' = x - lr u((1/n) sum_j g_j(x)), the same x on every node.
//
// The baseline of the field, whatever allreduce sums the gradients. Batch
// statistics are averaged along with them.
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_SGD_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_SGD_H_

#include <memory>
#include <vector>

#include "algorithm/algorithm.h"
#include "algorithm/allreduce_schedule.h"
#include "algorithm/collective.h"

namespace grapevine {

class AllreduceSgd final : public Algorithm {
 public:
  AllreduceSgd(std::unique_ptr<const AllreduceSchedule> schedule, AlgorithmOptions options);

  absl::Status On(const Event& event, Host& host) override;
  Round round() const override { return round_; }
  std::vector<Waiting> waiting_for() const override { return collective_.waiting_for(); }
  std::vector<Rank> Peers(Round from, Round to) const override;

 private:
  void OnStart(Host& host);
  absl::Status OnGradient(const GradientReady& event, Host& host);
  void BeginRound(Host& host);
  void EndRoundIfSummed(Host& host);
  void RestIfDone(Host& host);

  Collective collective_;
  const AlgorithmOptions options_;

  Vec replica_;
  Vec gradient_;
  Vec optimizer_state_;

  Round round_ = 0;
  Round limit_ = 0;
  bool started_ = false;
  bool in_round_ = false;
  bool summing_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_SGD_H_
