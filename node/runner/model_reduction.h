// The averaged model and the exact consensus distance, without stopping the run.
//
// Means go up a binary tree over the ranks (children 2r+1 and 2r+2) in chunks; each node
// merges its own replica with what its children send (kernels/passes/merge_means.h). Rank 0
// ends up with mean_i x_i over parameters and buffers and with (1/n) sum_i |x_i - mean|^2
// over the parameters and over the buffers. A node holds its replica of that round and a
// few chunks, never a second vector; rank 0 copies its replica at once and holds the
// growing result instead.
//
// Steps and bytes: 2 ceil(log2 n) chunk hops; every node but rank 0 sends its subtree's
// mean and two sums (MergeBytes in model/problem/averaged_model.h).
//
// Only ranks below the size take part: a run's parameter servers, at the ranks from there on, hold
// no model.
#ifndef GRAPEVINE_NODE_RUNNER_MODEL_REDUCTION_H_
#define GRAPEVINE_NODE_RUNNER_MODEL_REDUCTION_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/event.h"
#include "kernels/passes/merge_means.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/shared_vector.h"
#include "model/problem/averaged_model.h"
#include "node/runner/model_assembly.h"
#include "node/transport/transport.h"

namespace grapevine {

class ModelReduction final : public ModelAssembly {
 public:
  // `size` is the number of ranks that take part, `chunk_size` is in elements. The layout
  // and the transport outlive it.
  ModelReduction(Rank rank, Rank size, const ReplicaLayout* layout, Transport* transport,
                 int64_t chunk_size = int64_t{1} << 18);

  bool takes_part() const override { return rank_ < size_; }
  void Add(Round round, SharedVector replica) override {
    due_.push_back({round, std::move(replica)});
  }
  absl::Status BeginDue() override;
  absl::Status OnReceived(Rank from, Tag tag) override;
  absl::Status OnSent(Rank to, Tag tag) override;
  std::optional<AveragedModel> TakeAverage() override;
  void ReleaseAverage() override { average_out_ = false; }
  bool average_out() const override { return average_out_; }
  bool idle() const override { return !replica_.data && !mean_.data; }
  bool behind() const override { return !due_.empty(); }
  std::vector<Waiting> waiting_for() const override;
  // Parent and children.
  std::vector<Rank> Peers() const override;

 private:
  // A child's chunks that are posted for or have arrived, oldest first.
  struct Child {
    Rank rank;
    int64_t nodes;  // in its subtree
    int64_t posted = 0;
    int64_t arrived = 0;
    std::deque<SharedVector> chunks = {};
    std::shared_ptr<MergedDistances> distances = {};  // of its subtree
  };
  struct Due {
    Round round;
    SharedVector replica;
  };

  Rank Parent() const { return (rank_ - 1) / 2; }
  int64_t chunks() const { return (layout_->size + chunk_size_ - 1) / chunk_size_; }
  int64_t ChunkSize(int64_t chunk) const;
  // The messages of a subtree: its chunks, then its sums of squared distances.
  int64_t messages() const { return chunks() + 1; }
  Tag MessageTag(int64_t message) const;

  absl::Status Begin(Due due);
  SharedBytes BufferFor(Child& child, int64_t message) const;
  absl::Status PostAhead(Child& child);
  absl::Status Advance();
  absl::Status MergeChunk(int64_t chunk);
  absl::Status MergeDistances();
  absl::Status SendUp(int64_t message, SharedBytes bytes);
  void FinishIfDone();

  const Rank rank_;
  const Rank size_;
  const ReplicaLayout* const layout_;
  Transport* const transport_;
  const int64_t chunk_size_;

  std::vector<Child> children_;
  std::deque<Due> due_;
  Round round_ = 0;
  SharedVector replica_;  // this node's; empty when idle, and at rank 0
  VectorPool means_;      // rank 0's: freed memory would have to be faulted in again
  SharedVector mean_;     // rank 0's growing result, over its own replica
  int64_t merged_ = 0;    // messages merged and sent up
  // Sent up and not received yet, in this reduction or the one before; oldest first.
  std::deque<Tag> unsent_;
  MergedDistances distances_;  // sums of squared distances to the mean, of this subtree
  std::optional<AveragedModel> average_;
  bool average_out_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_MODEL_REDUCTION_H_
