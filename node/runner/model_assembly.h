// The model that is evaluated, put together from all nodes' while the run goes on: their mean
// (ModelReduction), or servers' shards side by side (ModelGather).
//
// One is put together at a time, and rank 0 has one out at a time: models of later rounds wait.
// Where the others go on without rank 0, it is put together at the node that has its role (Due).
// What comes from others is checked as numbers before it is merged or evaluated: the error names
// the rank whose model has elements that are none (CheckIsFinite).
//
// Where a node is lost meanwhile, the others go through the motions without it, and nothing comes
// of that round (Void).
//
// Thread-compatible: the runner's thread.
#ifndef GRAPEVINE_NODE_RUNNER_MODEL_ASSEMBLY_H_
#define GRAPEVINE_NODE_RUNNER_MODEL_ASSEMBLY_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/event.h"
#include "algorithm/view.h"
#include "base/ids.h"
#include "kernels/passes/merge_means.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/shared_vector.h"
#include "model/problem/averaged_model.h"
#include "node/transport/transport.h"

namespace grapevine {

class ModelAssembly {
 public:
  // The channels of its messages, one for each view, are from this one on: above all channels of
  // algorithms.
  static constexpr uint16_t kChannel = 0x8000;
  static bool IsItsOwn(const Tag& tag) { return tag.channel >= kChannel; }
  // Of the view whose models these are: it may be over.
  static std::optional<uint32_t> EpochOf(const Tag& tag) {
    if (!IsItsOwn(tag)) return std::nullopt;
    return static_cast<uint32_t>(tag.channel - kChannel);
  }

  struct Due {
    Round round;
    SharedVector model;                          // this node's
    std::shared_ptr<const View> view = nullptr;  // whose models; null: of all that take part
    Rank lead = 0;                               // where; a member
  };

  virtual ~ModelAssembly() = default;

  // Whether this node's model is needed; if so, every such node adds its own, for the same rounds
  // in the same order.
  virtual bool takes_part() const = 0;
  virtual void Add(Due due) = 0;
  // Begins those that wait, as far as possible. To be called after every event.
  virtual absl::Status BeginDue() = 0;

  // The transport's events on its channels: the last two where a peer is lost.
  virtual absl::Status OnReceived(const Received& message) = 0;
  virtual absl::Status OnSent(Rank to, Tag tag) = 0;
  virtual absl::Status OnLost(Rank from, Tag tag) = 0;
  virtual absl::Status OnUndelivered(Rank to, Tag tag) = 0;

  // At the lead: the last one that is complete, once; it is out until released.
  virtual std::optional<AveragedModel> TakeAverage() = 0;
  virtual void ReleaseAverage() = 0;
  // At the lead: the rounds of which there will be none, each once.
  virtual std::vector<Round> TakeVoid() = 0;
  // Elsewhere: one of which the lead has told (ModelBroadcast), once; it needs no release.
  virtual std::optional<AveragedModel> TakeTold() { return std::nullopt; }
  virtual bool average_out() const = 0;

  // Whether none is being put together, and whether one waits to be.
  virtual bool idle() const = 0;
  virtual bool behind() const = 0;
  // Whether one that waits would take memory of its own: not the same model once more, with fewer
  // nodes.
  virtual bool holds_up() const { return behind(); }
  // Whether a model is kept for it, or for its evaluation.
  bool holds_model() const { return !idle() || average_out() || behind(); }

  virtual std::vector<Waiting> waiting_for() const = 0;
  // With whom this node exchanges messages, ascending.
  virtual std::vector<Rank> Peers() const = 0;
};

// The averaged model and the exact consensus distance, without stopping the run.
//
// Means go up a binary tree over the ranks (model_tree.h) in chunks; each node
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
// no model. Of a view, its members do, and the tree is over their positions there. How many models
// have been merged goes up with the sums: where a node was lost on the way, rank 0 sees that some
// are missing.
class ModelReduction final : public ModelAssembly {
 public:
  // `size` is the number of ranks that take part, `chunk_size` is in elements. The layout
  // and the transport outlive it.
  ModelReduction(Rank rank, Rank size, const ReplicaLayout* layout, Transport* transport,
                 int64_t chunk_size = int64_t{1} << 18);

  bool takes_part() const override { return rank_ < size_; }
  void Add(Due due) override { due_.push_back(std::move(due)); }
  absl::Status BeginDue() override;
  absl::Status OnReceived(const Received& message) override;
  absl::Status OnSent(Rank to, Tag tag) override;
  absl::Status OnLost(Rank from, Tag tag) override;
  absl::Status OnUndelivered(Rank to, Tag tag) override;
  std::optional<AveragedModel> TakeAverage() override;
  void ReleaseAverage() override { average_out_ = false; }
  std::vector<Round> TakeVoid() override { return std::exchange(void_, {}); }
  bool average_out() const override { return average_out_; }
  bool idle() const override { return !replica_.data && !mean_.data; }
  bool behind() const override { return !due_.empty(); }
  bool holds_up() const override {
    return std::ranges::any_of(due_, [this](const Due& due) { return due.round != round_; });
  }
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
    double merged = 0;  // models that are in what it has sent
    bool lost = false;
    std::deque<SharedVector> chunks = {};
    std::shared_ptr<MergedDistances> distances = {};  // of its subtree
  };
  int64_t chunks() const { return (layout_->size + chunk_size_ - 1) / chunk_size_; }
  int64_t ChunkSize(int64_t chunk) const;
  // The messages of a subtree: its chunks, then its sums of squared distances.
  int64_t messages() const { return chunks() + 1; }
  Tag MessageTag(int64_t message) const;
  // Whether it is of the present reduction.
  bool IsPresent(const Tag& tag) const;

  absl::Status Begin(Due due);
  SharedBytes BufferFor(Child& child, int64_t message) const;
  absl::Status PostAhead(Child& child);
  absl::Status Advance();
  absl::Status MergeChunk(int64_t chunk);
  // Says whose elements they were, of this node's and a child's, that have made a merge not finite.
  absl::Status NotFinite(const Child& child) const;
  absl::Status MergeDistances();
  absl::Status SendUp(int64_t message, Outgoing bytes);
  void FinishIfDone();

  const Rank rank_;
  const Rank size_;
  const ReplicaLayout* const layout_;
  Transport* const transport_;
  const int64_t chunk_size_;

  const std::shared_ptr<const View> all_;
  std::deque<Due> due_;
  // Of the present reduction, or the last one:
  std::shared_ptr<const View> view_;
  Rank lead_ = 0;
  Rank parent_ = 0;
  std::vector<Child> children_;
  bool orphan_ = false;  // the parent is lost
  Round round_ = 0;
  SharedVector replica_;  // this node's; empty when idle, and at the lead
  VectorPool means_;      // the lead's: freed memory would have to be faulted in again
  SharedVector mean_;     // the lead's growing result, over its own replica
  int64_t merged_ = 0;    // messages merged and sent up
  // Sent up and not received yet, in this reduction or the one before; oldest first.
  std::deque<Tag> unsent_;
  double models_ = 0;          // merged, of this subtree
  MergedDistances distances_;  // sums of squared distances to the mean, of this subtree
  std::optional<AveragedModel> average_;
  std::vector<Round> void_;
  bool average_out_ = false;
};

// The servers' weights at rank 0, without stopping the run.
//
// Each server sends its shard in chunks, to where it belongs in the whole; rank 0 holds the
// growing result, and no other node anything. Server s of S, the rank workers + s, has the
// elements [s M/S, (s+1) M/S) of the M (algorithm_kind.h, EvaluatedModel).
//
// Every server sends the bytes of its shard: those of one replica in all.
class ModelGather final : public ModelAssembly {
 public:
  // The ranks from `workers` to below `nodes` are servers; `chunk_size` is in elements. The layout
  // and the transport outlive it.
  ModelGather(Rank rank, Rank workers, Rank nodes, const ReplicaLayout* layout,
              Transport* transport, int64_t chunk_size = int64_t{1} << 18);

  bool takes_part() const override { return rank_ == 0 || server(); }
  // Rank 0 may be a worker: its own model is not looked at. Nor is a round's a second time: servers
  // have the same weights, whoever else is lost.
  void Add(Due due) override {
    if (due.round > std::exchange(added_, std::max(added_, due.round))) {
      due_.push_back(std::move(due));
    }
  }
  absl::Status BeginDue() override;
  absl::Status OnReceived(const Received& message) override;
  absl::Status OnSent(Rank to, Tag tag) override;
  // Servers are not lost: the run would end with one.
  absl::Status OnLost(Rank from, Tag tag) override { return EndChunk(from, tag); }
  absl::Status OnUndelivered(Rank to, Tag tag) override { return EndChunk(to, tag); }
  std::optional<AveragedModel> TakeAverage() override;
  void ReleaseAverage() override { average_out_ = false; }
  std::vector<Round> TakeVoid() override { return {}; }
  bool average_out() const override { return average_out_; }
  bool idle() const override { return shards_.empty(); }
  bool behind() const override { return !due_.empty(); }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers() const override;

 private:
  // A shard on its way: at its server, or at rank 0.
  struct Shard {
    SharedSlice slice;
    int64_t begun = 0;  // chunks that were sent, or posted for
    int64_t ended = 0;
  };
  bool server() const { return rank_ >= workers_; }
  int64_t chunks(const Shard& shard) const;
  SharedSlice ChunkOf(const Shard& shard, int64_t chunk) const;
  Tag ChunkTag(int64_t chunk) const;
  ReplicaRange RangeOf(Rank server) const;

  absl::Status Begin(Due due);
  // Sends, or posts for, as many chunks as may be in flight.
  absl::Status Continue(Rank peer, Shard& shard);
  absl::Status EndChunk(Rank peer, Tag tag);
  // Rank 0: what has arrived of a shard.
  absl::Status CheckChunk(Rank server, const Shard& shard, Tag tag) const;

  const Rank rank_;
  const Rank workers_;
  const Rank nodes_;
  const ReplicaLayout* const layout_;
  Transport* const transport_;
  const int64_t chunk_size_;

  Round added_ = 0;  // the last one
  std::deque<Due> due_;
  Round round_ = 0;
  VectorPool wholes_;             // freed memory would have to be faulted in again
  SharedVector whole_;            // rank 0's
  SharedVector own_;              // a server's shard
  std::map<Rank, Shard> shards_;  // under way, by the peer: rank 0, or a server
  std::optional<AveragedModel> average_;
  bool average_out_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_MODEL_ASSEMBLY_H_
