// Tells averaged models to all nodes that take part in them, for runs whose programs look at the
// model on every node.
//
// What another assembly puts together at the lead goes down its tree (model_tree.h) in chunks, each
// passed on as it arrives, followed by the distances. The number of nodes that have the model comes
// up again. Once all have it, the lead gives the average out, so that no node ends before that. If
// a round has no model because a node was lost, or if a node is lost on the way, the nodes below
// carry the exchange through all the same, and the round has no result at the lead (TakeVoid).
//
// Steps and bytes: 2 ceil(log2 n) chunk hops and as many hops of a small message; n - 1 times the
// bytes of a replica. A node holds the growing model beside what the other assembly holds; the lead
// holds nothing more.
//
// Thread-compatible: for the runner's thread.
#ifndef GRAPEVINE_NODE_RUNNER_MODEL_BROADCAST_H_
#define GRAPEVINE_NODE_RUNNER_MODEL_BROADCAST_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/event.h"
#include "algorithm/view.h"
#include "base/ids.h"
#include "kernels/passes/merge_means.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/shared_vector.h"
#include "model/problem/averaged_model.h"
#include "node/runner/model_assembly.h"
#include "node/transport/transport.h"

namespace grapevine {

class ModelBroadcast final : public ModelAssembly {
 public:
  // All ranks below `size`, or those of a view, take part in what `assembly` puts together.
  // `chunk_size` is in elements. The layout and the transport outlive it.
  ModelBroadcast(std::unique_ptr<ModelAssembly> assembly, Rank rank, Rank size,
                 const ReplicaLayout* layout, Transport* transport,
                 int64_t chunk_size = int64_t{1} << 18);

  bool takes_part() const override { return assembly_->takes_part(); }
  void Add(Due due) override;
  absl::Status BeginDue() override;
  absl::Status OnReceived(const Received& message) override;
  absl::Status OnSent(Rank to, Tag tag) override;
  absl::Status OnLost(Rank from, Tag tag) override;
  absl::Status OnUndelivered(Rank to, Tag tag) override;
  std::optional<AveragedModel> TakeAverage() override {
    return std::exchange(average_, std::nullopt);
  }
  void ReleaseAverage() override { assembly_->ReleaseAverage(); }
  std::vector<Round> TakeVoid() override { return std::exchange(void_, {}); }
  std::optional<AveragedModel> TakeTold() override { return std::exchange(told_, std::nullopt); }
  bool average_out() const override {
    return assembly_->average_out() && !(current_ && current_->parent == rank_);
  }
  bool idle() const override { return assembly_->idle() && !current_ && results_.empty(); }
  bool behind() const override { return assembly_->behind() || !due_.empty(); }
  bool holds_up() const override;
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers() const override { return assembly_->Peers(); }

 private:
  struct Announced {
    Round round;
    std::shared_ptr<const View> view;
    Rank lead;
  };
  struct Listener {
    Rank rank;
    int64_t sent = 0;                 // number of messages
    int64_t taken = 0;                // number of sent messages that it has received
    std::optional<double> told = {};  // nodes of its subtree that have the whole model
    std::shared_ptr<MergedDistances> answer = std::make_shared<MergedDistances>();
    bool lost = false;

    bool done() const { return lost || told; }
  };
  // The model on its way down.
  struct Current {
    Round round;
    uint16_t channel;
    Rank parent;  // this node itself at the lead
    Rank nodes;   // number of nodes that take part
    std::vector<Listener> listeners = {};
    SharedVector model = {};
    std::shared_ptr<MergedDistances> distances = {};
    bool orphan = false;  // whether the parent is lost
    bool valid = true;    // whether all of it comes from the lead
    int64_t posted = 0;   // messages posted for from the parent
    // The number of messages that have arrived, or that are no longer awaited.
    int64_t available = 0;
  };

  // A broadcast consists of the chunks, then the distances, and then, on the way up, the answer.
  // Its messages are numbered after those of the assembly, of which there are at most as many as
  // those going down.
  int64_t chunks() const { return (layout_->size + chunk_size_ - 1) / chunk_size_; }
  int64_t messages() const { return chunks() + 1; }
  bool IsOfBroadcast(const Tag& tag) const { return tag.step >= messages(); }
  Tag MessageTag(int64_t message) const;
  // Returns the number of a message of the current broadcast; nothing for any other message.
  std::optional<int64_t> MessageOf(const Tag& tag) const;
  SharedBytes MessageAt(int64_t message) const;

  void CollectResults();
  absl::Status Begin(Announced due);
  void HaveAll(std::optional<AveragedModel> average);
  // Posts, passes on and ends everything that is possible.
  absl::Status Advance();
  absl::Status PassOn(Listener& child);
  absl::Status End();
  void EndAtLead(bool told, Round round);
  absl::Status OnAnswer(const Received& message);
  absl::Status OnListener(Rank rank, void (*happens)(Listener& child));

  const std::unique_ptr<ModelAssembly> assembly_;
  const Rank rank_;
  const Rank size_;
  const ReplicaLayout* const layout_;
  Transport* const transport_;
  const int64_t chunk_size_;
  const std::shared_ptr<const View> all_;

  std::deque<Announced> due_;
  std::optional<Current> current_;
  // The results at the lead, in the order of the dues; nothing for a round without a model.
  std::deque<std::optional<AveragedModel>> results_;
  std::optional<AveragedModel> telling_;  // at the lead, until all nodes have it
  std::optional<AveragedModel> average_;
  std::vector<Round> void_;
  VectorPool models_;  // freed memory would have to be faulted in again
  std::optional<AveragedModel> told_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_MODEL_BROADCAST_H_
