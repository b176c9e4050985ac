// The model that is evaluated, put together from all nodes' while the run goes on: their mean
// (model_reduction.h), or servers' shards side by side (model_gather.h).
//
// One is put together at a time, and rank 0 has one out at a time: models of later rounds wait.
// Where a node is lost meanwhile, the others go through the motions without it, and nothing comes
// of that round (Void).
//
// Thread-compatible: the runner's thread.
#ifndef GRAPEVINE_NODE_RUNNER_MODEL_ASSEMBLY_H_
#define GRAPEVINE_NODE_RUNNER_MODEL_ASSEMBLY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/event.h"
#include "algorithm/view.h"
#include "base/ids.h"
#include "kernels/vector/shared_vector.h"
#include "model/problem/averaged_model.h"

namespace grapevine {

class ModelAssembly {
 public:
  // The channels of its messages, one for each view, are from this one on: above all channels of
  // algorithms.
  static constexpr uint16_t kChannel = 0x8000;
  static bool IsItsOwn(const Tag& tag) { return tag.channel >= kChannel; }

  struct Due {
    Round round;
    SharedVector model;                          // this node's
    std::shared_ptr<const View> view = nullptr;  // whose models; null: of all that take part
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

  // Rank 0: the last one that is complete, once; it is out until released.
  virtual std::optional<AveragedModel> TakeAverage() = 0;
  virtual void ReleaseAverage() = 0;
  // Rank 0: the rounds of which there will be none, each once.
  virtual std::vector<Round> TakeVoid() = 0;
  virtual bool average_out() const = 0;

  // Whether none is being put together, and whether one waits to be.
  virtual bool idle() const = 0;
  virtual bool behind() const = 0;
  // Whether a model is kept for it, or for its evaluation.
  bool holds_model() const { return !idle() || average_out() || behind(); }

  virtual std::vector<Waiting> waiting_for() const = 0;
  // With whom this node exchanges messages, ascending.
  virtual std::vector<Rank> Peers() const = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_MODEL_ASSEMBLY_H_
