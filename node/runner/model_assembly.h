// Puts together the model that is evaluated while the run goes on: the mean of all nodes' models
// (ModelReduction), or the servers' shards side by side (ModelGather).
//
// Models are put together one at a time, and only one is out for evaluation: models of later rounds
// wait. The result is at the lead, which is rank 0 or, where the others go on without rank 0, the
// node that has its role (Due). Models of other nodes are checked before they are merged or
// evaluated: the error names the rank whose model has elements that are not finite (CheckIsFinite).
//
// If a node is lost meanwhile, the others carry the exchange through without it, and the round has
// no result (TakeVoid).
//
// Thread-compatible: for the runner's thread.
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
  // The first channel of the assembly's messages, of which each view has its own. It lies above all
  // channels of algorithms.
  static constexpr uint16_t kChannel = 0x8000;
  static bool IsItsOwn(const Tag& tag) { return tag.channel >= kChannel; }
  // Returns the epoch of the view whose models the message is about, which may be over; nothing for
  // a message of an algorithm.
  static std::optional<uint32_t> EpochOf(const Tag& tag) {
    if (!IsItsOwn(tag)) return std::nullopt;
    return static_cast<uint32_t>(tag.channel - kChannel);
  }

  struct Due {
    Round round;
    SharedVector model;  // the model of this node
    // The view whose members' models are put together; null: all nodes that take part.
    std::shared_ptr<const View> view = nullptr;
    // The member at which the model is put together.
    Rank lead = 0;
  };

  virtual ~ModelAssembly() = default;

  // Returns whether the model of this node is needed. If so, every such node adds its own, for the
  // same rounds in the same order.
  virtual bool takes_part() const = 0;
  virtual void Add(Due due) = 0;
  // Begins the models that wait, as far as possible. Must be called after every event.
  virtual absl::Status BeginDue() = 0;

  // Handle the transport's events on the assembly's channels. OnLost and OnUndelivered come only if
  // a peer is lost.
  virtual absl::Status OnReceived(const Received& message) = 0;
  virtual absl::Status OnSent(Rank to, Tag tag) = 0;
  virtual absl::Status OnLost(Rank from, Tag tag) = 0;
  virtual absl::Status OnUndelivered(Rank to, Tag tag) = 0;

  // Returns, at the lead, the last complete model, once. The model is out until ReleaseAverage.
  virtual std::optional<AveragedModel> TakeAverage() = 0;
  virtual void ReleaseAverage() = 0;
  // Returns, at the lead, the rounds that will have no model, each once.
  virtual std::vector<Round> TakeVoid() = 0;
  // Returns, at the other nodes, a model that the lead has told (ModelBroadcast), once. It needs no
  // release.
  virtual std::optional<AveragedModel> TakeTold() { return std::nullopt; }
  virtual bool average_out() const = 0;

  // idle() returns whether no model is being put together, behind() whether one waits.
  virtual bool idle() const = 0;
  virtual bool behind() const = 0;
  // Returns whether a waiting model takes memory of its own. A model that is put together once
  // more, with fewer nodes, does not.
  virtual bool holds_up() const { return behind(); }
  // Returns whether a model is kept for the assembly, or for its evaluation.
  bool holds_model() const { return !idle() || average_out() || behind(); }

  virtual std::vector<Waiting> waiting_for() const = 0;
  // Returns the ranks with which this node exchanges messages, ascending.
  virtual std::vector<Rank> Peers() const = 0;
};

// Computes the averaged model and the exact consensus distance, without stopping the run.
//
// Means go up a binary tree over the ranks (model_tree.h) in chunks; each node merges its own
// replica with what its children send (kernels/passes/merge_means.h). The lead ends up with mean_i
// x_i over parameters and buffers and with (1/n) sum_i |x_i - mean|^2 over the parameters and over
// the buffers. A node holds its replica of that round and a few chunks, never a second vector; the
// lead copies its replica at once and holds the growing result instead.
//
// Steps and bytes: 2 ceil(log2 n) chunk hops; every node but the lead sends its subtree's mean and
// two sums (MergeBytes in model/problem/averaged_model.h).
//
// Only ranks below the size take part: a run's parameter servers, which are the remaining ranks,
// hold no model. With a view, its members take part, and the tree is over their positions in the
// view. The number of merged models goes up with the sums: if a node was lost on the way, the lead
// sees that some models are missing.
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
  // Returns the parent and the children.
  std::vector<Rank> Peers() const override;

 private:
  // A child, with its chunks that are posted for or have arrived, oldest first.
  struct Child {
    Rank rank;
    int64_t nodes;  // number of nodes in its subtree
    int64_t posted = 0;
    int64_t arrived = 0;
    double merged = 0;  // number of models in its result
    bool lost = false;
    std::deque<SharedVector> chunks = {};
    std::shared_ptr<MergedDistances> distances = {};  // sums of its subtree
  };
  int64_t chunks() const { return (layout_->size + chunk_size_ - 1) / chunk_size_; }
  int64_t ChunkSize(int64_t chunk) const;
  // Returns the number of messages of a subtree: its chunks, then its sums of squared distances.
  int64_t messages() const { return chunks() + 1; }
  Tag MessageTag(int64_t message) const;
  // Returns whether a message belongs to the present reduction.
  bool IsPresent(const Tag& tag) const;

  absl::Status Begin(Due due);
  SharedBytes BufferFor(Child& child, int64_t message) const;
  absl::Status PostAhead(Child& child);
  absl::Status Advance();
  absl::Status MergeChunk(int64_t chunk);
  // Names the node, this one or a child, whose elements have made a merge not finite.
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
  // The state of the present reduction, or of the last one:
  std::shared_ptr<const View> view_;
  Rank lead_ = 0;
  Rank parent_ = 0;
  std::vector<Child> children_;
  bool orphan_ = false;  // whether the parent is lost
  Round round_ = 0;
  SharedVector replica_;  // own model; empty when idle, and at the lead
  VectorPool means_;      // for the lead: freed memory would have to be faulted in again
  SharedVector mean_;     // the lead's growing result, over its own replica
  int64_t merged_ = 0;    // number of messages merged and sent up
  // Messages sent up and not received yet, in this reduction or the one before; oldest first.
  std::deque<Tag> unsent_;
  double models_ = 0;  // number of merged models of this subtree
  // Sums of squared distances to the mean, over this subtree.
  MergedDistances distances_;
  std::optional<AveragedModel> average_;
  std::vector<Round> void_;
  bool average_out_ = false;
};

// Gathers the servers' weights at rank 0, without stopping the run.
//
// Each server sends its shard in chunks, which arrive at their place in the whole; rank 0 holds the
// growing result, and no other node holds anything. Server s of S, the rank workers + s, has the
// elements [s M/S, (s+1) M/S) of the M (algorithm_kind.h, EvaluatedModel).
//
// Every server sends the bytes of its shard; together, these are the bytes of one replica.
class ModelGather final : public ModelAssembly {
 public:
  // The ranks from `workers` to below `nodes` are servers; `chunk_size` is in elements. The layout
  // and the transport outlive it.
  ModelGather(Rank rank, Rank workers, Rank nodes, const ReplicaLayout* layout,
              Transport* transport, int64_t chunk_size = int64_t{1} << 18);

  bool takes_part() const override { return rank_ == 0 || server(); }
  // Adds a round once: the servers' weights are the same, whichever other nodes are lost. The model
  // of rank 0 is not looked at, since rank 0 may be a worker.
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
  // A shard in transit, at its server or at rank 0.
  struct Shard {
    SharedSlice slice;
    int64_t begun = 0;  // chunks that were sent or posted for
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
  // Checks, at rank 0, a chunk of a shard that has arrived.
  absl::Status CheckChunk(Rank server, const Shard& shard, Tag tag) const;

  const Rank rank_;
  const Rank workers_;
  const Rank nodes_;
  const ReplicaLayout* const layout_;
  Transport* const transport_;
  const int64_t chunk_size_;

  Round added_ = 0;  // the last round added
  std::deque<Due> due_;
  Round round_ = 0;
  VectorPool wholes_;             // freed memory would have to be faulted in again
  SharedVector whole_;            // the growing result at rank 0
  SharedVector own_;              // the shard of this server
  std::map<Rank, Shard> shards_;  // in transit, by the peer: rank 0, or a server
  std::optional<AveragedModel> average_;
  bool average_out_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_MODEL_ASSEMBLY_H_
