// The mean of all nodes' replicas by an allreduce, the same bits on every node.
//
// The sum is made in place of the node's own replica, and takes no memory beside the allreduce's
// scratch; or in place of a copy, where the replica is still needed or shown.
#ifndef GRAPEVINE_ALGORITHM_AVERAGING_ALLREDUCE_AVERAGING_H_
#define GRAPEVINE_ALGORITHM_AVERAGING_ALLREDUCE_AVERAGING_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/allreduce/allreduce_kind.h"
#include "algorithm/allreduce/bucketed_sum.h"
#include "algorithm/local/averaging.h"
#include "algorithm/local/local_steps.h"

namespace grapevine {

class AllreduceAveraging final : public Averaging {
 public:
  enum class Sum { kInPlace, kOfACopy };
  // In the rounds of `steps`, of `nodes`.
  AllreduceAveraging(LocalSteps steps, AllreduceSchedules schedules, Rank nodes, Sum place);

  void Start(Round round, Vec replica, Host& host) override;
  // Each sum posts for the next one.
  void PostAhead(Round limit, Host& host) override {}
  void Begin(Vec own, Host& host) override;
  absl::Status On(const Received& event, Host& host) override { return sum_.On(event, host); }
  absl::Status On(const Left& event, Host& host) override { return sum_.On(event, host); }
  absl::Status On(const Sent& event, Host& host) override { return sum_.On(event, host); }
  bool complete() const override { return sum_.summed(); }
  absl::StatusOr<Terms> Take(Host& host) override;
  void End(Host& host) override;
  bool quiet() const override { return sum_.idle(); }
  std::vector<Waiting> waiting(bool resting) const override;
  // Also where no average is due: they are known, and few.
  std::vector<Rank> Peers(Round from, Round to) const override { return sum_.Peers(); }

 private:
  const Rank nodes_;
  const Sum place_;
  BucketedSum sum_;
  Vec data_;  // what is summed
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_AVERAGING_ALLREDUCE_AVERAGING_H_
