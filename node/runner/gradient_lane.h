// A node's gradients, in parallel with everything else that it does: one at a time is requested,
// begins, runs and ends.
//
// A gradient usually begins as soon as it is requested. While a model is held for its evaluation,
// it waits until the messages requested before it have left: otherwise the replica that a slow
// neighbour has yet to take and the model to be evaluated would both be kept beside what a round
// needs, one vector above the bound on a node's memory (docs/benchmarks.md). The wait does not
// depend on this node: peers can take messages of earlier rounds whatever it does.
#ifndef GRAPEVINE_NODE_RUNNER_GRADIENT_LANE_H_
#define GRAPEVINE_NODE_RUNNER_GRADIENT_LANE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "algorithm/message.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/shared_vector.h"
#include "kernels/vector/vector_handle.h"
#include "node/runner/data_path.h"
#include "node/runner/gradient_worker.h"
#include "node/runner/node_exchange.h"
#include "node/runner/trace_recorder.h"

namespace grapevine {

// Thread-compatible: the runner's thread.
class GradientLane {
 public:
  // `computer` is null where the algorithm requests no gradients; `trace` may be null. All that is
  // pointed to outlives the lane.
  GradientLane(std::unique_ptr<GradientComputer> computer, DataPath* data_path,
               const NodeExchange* exchange, TraceRecorder* trace);

  // One at a time (algorithm/host.h).
  void Ask(Vec at, Vec into, Round round, std::span<const int64_t> cuts);
  // Begins the requested gradient, if it may. To be called after every event.
  void Begin(bool model_held);
  // The current gradient has ended: releases its vectors.
  void End();
  // No gradient runs from then on.
  void Stop() { computer_.reset(); }

  // Whether a gradient is running.
  bool busy() const { return at_.data != nullptr; }
  // The ranks that have yet to take messages for which a gradient waits.
  std::set<Rank> HeldBackFor() const;
  // The first tensor that is not finite in the current gradient or its replica: "conv1.weight of
  // its replica"; empty if both are finite.
  std::string WhereNotFinite(const ReplicaLayout& layout) const;

 private:
  struct Request {
    SharedVector at;
    Vec into;  // gets its memory when the gradient begins
    Round round;
    std::vector<int64_t> cuts;
    SendId after;  // the last message requested before it
  };

  std::unique_ptr<GradientComputer> computer_;
  DataPath* const data_path_;
  const NodeExchange* const exchange_;
  TraceRecorder* const trace_;

  std::optional<Request> asked_;
  SharedVector at_;  // of the current gradient
  SharedVector gradient_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_GRADIENT_LANE_H_
