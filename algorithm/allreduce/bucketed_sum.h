// A sum over all ranks in buckets, each as soon as its elements are final: a gradient travels
// while the rest of it is still being computed.
//
// Bucket 0 is the end of the vector, where a backward pass begins; all buckets have the same
// size. They begin in order; more than one may be in progress. A bucket is summed in as many equal
// parts as its allreduce has schedules, at the same time: each part is a Collective with a channel
// and scratch memory of its own.
//
// Every rank ends with the same bits. They are those of a single bucket where a schedule adds
// the ranks in the same order for all elements (tree, and halving-doubling for n = 2^k); in a
// ring the order depends on an element's piece, and so on the buckets.
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_BUCKETED_SUM_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_BUCKETED_SUM_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/allreduce/allreduce_kind.h"
#include "algorithm/allreduce/collective.h"
#include "algorithm/event.h"
#include "algorithm/host.h"
#include "algorithm/local/local_steps.h"
#include "kernels/vector/vector_handle.h"

namespace grapevine {

// One event at a time; one sum at a time.
class BucketedSum {
 public:
  // The schedules of each bucket's parts, of which every bucket has as many. One channel for each,
  // from `first_channel` on. `steps` says in which rounds sums are made.
  BucketedSum(std::vector<AllreduceSchedules> buckets, uint16_t first_channel,
              LocalSteps steps = LocalSteps());

  // As Collective's, for vectors of `elements`.
  void Prepare(int64_t elements, Host& host, Round round = 0);
  // Where all buckets but the last begin, descending: the cuts for Host::Gradient. Valid after
  // Prepare, as long as this lives.
  std::span<const int64_t> cuts() const { return cuts_; }

  // Begins a sum of `data`, none of whose elements is final yet.
  void Begin(Vec data);
  // The elements from `from` on are final.
  void OnReady(int64_t from, Host& host);

  absl::Status On(const Received& event, Host& host);
  absl::Status On(const Left& event, Host& host);
  absl::Status On(const Sent& event, Host& host);

  bool summed() const;
  bool idle() const;
  std::vector<Waiting> waiting_for() const;
  std::vector<Rank> Peers() const;

 private:
  struct Part {
    std::unique_ptr<Collective> sum;
    int64_t begin = 0;
    int64_t end = 0;
    int64_t bucket = 0;  // where its bucket begins
  };

  const uint16_t first_channel_;
  size_t parts_of_bucket_;
  std::vector<Part> parts_;  // of all buckets, from the vector's end on
  std::vector<int64_t> cuts_;
  Vec data_;
  size_t begun_;  // parts of the sum begun last
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_BUCKETED_SUM_H_
