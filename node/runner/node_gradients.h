// Computes the gradients of a node in parallel with everything else that the node does.
// GradientLane holds the one gradient that is requested or in progress, and begins it. A
// GradientComputer computes it while the node's replicas are in flight: on a thread
// (GradientWorker), or in the way of a driver that has its own clock.
#ifndef GRAPEVINE_NODE_RUNNER_NODE_GRADIENTS_H_
#define GRAPEVINE_NODE_RUNNER_NODE_GRADIENTS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithm/event.h"
#include "algorithm/message.h"
#include "base/gradient.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/shared_vector.h"
#include "kernels/vector/vector_handle.h"
#include "model/problem/objective.h"
#include "node/runner/data_path.h"
#include "node/runner/node_exchange.h"
#include "node/runner/trace_recorder.h"
#include "system/mutex.h"

namespace grapevine {

struct GradientResult {
  Round round;
  absl::StatusOr<double> loss;  // mean over the batch; NaN where `has_loss` is false
  GradientNoise noise;          // if it is measured
  // The times at which it began and ended, including artificial delays.
  std::chrono::steady_clock::time_point begin;
  std::chrono::steady_clock::time_point end;
  std::vector<TensorNorms> norms = {};  // if they are measured
  bool finite = true;                   // whether the gradient is finite, if it was examined
  bool has_loss = true;                 // false: the loss is unknown
};

// The receivers of a computer's reports; both may be called from any thread.
struct GradientReports {
  std::function<void(GradientResult)> done;
  std::function<void(GradientReady)> part = {};  // only if cuts are requested
};

// Computes one gradient at a time.
class GradientComputer {
 public:
  // Ends before or after the current gradient; afterwards, nothing is reported.
  virtual ~GradientComputer() = default;

  // Writes the gradient at `at` into `into`, both of the layout's size. Reports a part for each of
  // `cuts` (descending) when all elements from the cut on are final, and then the result. Reports
  // come from any thread, but only after this returns.
  virtual void Compute(SharedVector at, SharedVector into, Round round,
                       std::vector<int64_t> cuts) = 0;
};
using MakeGradients = std::function<std::unique_ptr<GradientComputer>(GradientReports reports)>;

// Returns how long the gradient of a round shall take if computing it took `computed`: longer for a
// straggler, and for a phantom, which computes nothing.
using GradientPace =
    std::function<std::chrono::nanoseconds(Round round, std::chrono::nanoseconds computed)>;

// Calls `computed`, in the order of the calls, once everything that an objective has queued so far
// is done.
using CallOnceComputed = std::function<void(std::function<void()> computed)>;

// Returns whether a computed gradient has only finite elements.
using IsFinite = std::function<bool(const SharedVector& gradient)>;

// Computes gradients on a thread of its own. Thread-safe.
class GradientWorker final : public GradientComputer {
 public:
  // Takes over `objective`, which outlives the worker: from now on only the worker's thread uses
  // it. Without a `pace`, gradients are not slowed down. The worker's thread makes the reports;
  // parts, and the result after them, go through `once_computed` if it is given. `is_finite`, if
  // given, examines whole gradients only: parts no longer belong to the worker once they are
  // reported.
  GradientWorker(Objective* objective, GradientPace pace, GradientReports reports,
                 CallOnceComputed once_computed = {}, IsFinite is_finite = {});
  // Ends after the current gradient; cuts an artificial delay short.
  ~GradientWorker() override;

  // Parts are reported as the backward pass reaches them or, with a pace, after the share
  // of its time that the objective estimates.
  void Compute(SharedVector at, SharedVector into, Round round, std::vector<int64_t> cuts) override;

 private:
  struct Work {
    SharedVector at;
    SharedVector into;
    Round round = 0;
    std::vector<int64_t> cuts;
  };

  void Loop();
  // Waits for work; returns false when the worker stops.
  bool Next(Work* work);
  absl::StatusOr<double> Compute(const Work& work);
  void ReportPart(const GradientReady& part);
  // Delays a gradient whose computation began at `begin` until it has taken the time of its pace.
  void Pace(const Work& work, std::chrono::steady_clock::time_point begin);
  // Waits until `deadline`, or until the worker is stopped.
  void DelayUntil(std::chrono::steady_clock::time_point deadline);

  Objective* const objective_;
  const GradientPace pace_;
  const GradientReports reports_;
  const CallOnceComputed once_computed_;
  const IsFinite is_finite_;

  Mutex mutex_;
  Condition changed_;
  std::optional<Work> work_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// The gradient that is requested or in progress.
//
// A gradient usually begins as soon as it is requested. While a model is held for its evaluation,
// the gradient waits until the messages requested before it have left. Otherwise the replica that a
// slow neighbour has yet to take and the model to be evaluated would both be kept in addition to
// the vectors of a round, one vector above the bound on a node's memory (docs/benchmarks.md). The
// wait does not depend on this node: peers can take messages of earlier rounds whatever it does.
//
// Thread-compatible: for the runner's thread.
class GradientLane {
 public:
  // `computer` is null if the algorithm requests no gradients; `trace` may be null. Everything that
  // is pointed to outlives the lane.
  GradientLane(std::unique_ptr<GradientComputer> computer, DataPath* data_path,
               const NodeExchange* exchange, TraceRecorder* trace);

  // Requests a gradient, one at a time (algorithm/host.h).
  void Ask(Vec at, Vec into, Round round, std::span<const int64_t> cuts);
  // Begins the requested gradient, if it may begin. Must be called after every event.
  void Begin(bool model_held);
  // Ends the current gradient: releases its vectors.
  void End();
  // Ends the computer: no gradient runs afterwards.
  void Stop() { computer_.reset(); }

  // Returns whether a gradient is running.
  bool busy() const { return at_.data != nullptr; }
  // Returns the ranks that have yet to take messages for which a gradient waits.
  std::set<Rank> HeldBackFor() const;
  // Returns the first tensor that is not finite in the current gradient or its replica, such as
  // "conv1.weight of its replica"; empty if both are finite.
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
  SharedVector at_;  // replica of the current gradient
  SharedVector gradient_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_NODE_GRADIENTS_H_
