// A node's gradients, in parallel with everything else that it does: one at a time is requested and
// begins (GradientLane), and is computed (GradientComputer) while the node's replicas are in
// flight: by a thread (GradientWorker), or by what a driver with a clock of its own has instead.
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
  GradientNoise noise;          // where it is measured
  // When it began and ended, artificial delays included.
  std::chrono::steady_clock::time_point begin;
  std::chrono::steady_clock::time_point end;
  std::vector<TensorNorms> norms = {};  // where they are measured
  bool finite = true;                   // the gradient, where it was looked at
  bool has_loss = true;                 // false: nobody knows it
};

// Where a computer's reports go; both may be called from any thread.
struct GradientReports {
  std::function<void(GradientResult)> done;
  std::function<void(GradientReady)> part = {};  // only where cuts are requested
};

// One gradient at a time.
class GradientComputer {
 public:
  // Ends before or after the current gradient; reports nothing afterwards.
  virtual ~GradientComputer() = default;

  // Writes the gradient at `at` into `into`, both of the layout's size. Reports a
  // part for each of `cuts` (descending) when everything from there on is final, and the
  // result after them; from any thread, but not before this returns.
  virtual void Compute(SharedVector at, SharedVector into, Round round,
                       std::vector<int64_t> cuts) = 0;
};
using MakeGradients = std::function<std::unique_ptr<GradientComputer>(GradientReports reports)>;

// How long the gradient of a round is to take when computing it took `computed`: longer for a
// straggler, and for a phantom, which computes nothing.
using GradientPace =
    std::function<std::chrono::nanoseconds(Round round, std::chrono::nanoseconds computed)>;

// Calls back, in order, once everything that an objective has queued so far is done.
using CallOnceComputed = std::function<void(std::function<void()> computed)>;

// Whether a gradient that was computed has finite elements only.
using IsFinite = std::function<bool(const SharedVector& gradient)>;

// Computes on a thread of its own. Thread-safe.
class GradientWorker final : public GradientComputer {
 public:
  // From now on only the worker's thread uses `objective`, which outlives it. Without a `pace`,
  // gradients are not slowed down. Reports are made on the worker's thread; parts, and the result
  // after them, through `once_computed` where there is one. `is_finite`, where there is one, looks
  // at whole gradients: parts are no longer the worker's once they are reported.
  GradientWorker(Objective* objective, GradientPace pace, GradientReports reports,
                 CallOnceComputed once_computed = {}, IsFinite is_finite = {});
  // Ends after the current gradient; an artificial delay is cut short.
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
  // Waits for work; false when the worker stops.
  bool Next(Work* work);
  absl::StatusOr<double> Compute(const Work& work);
  void ReportPart(const GradientReady& part);
  // Delays a gradient whose computation began at `begin` until it has taken the time of its pace.
  void Pace(const Work& work, std::chrono::steady_clock::time_point begin);
  // Waits until then, or until the worker is stopped.
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
// it waits until the messages requested before it have left: otherwise the replica that a slow
// neighbour has yet to take and the model to be evaluated would both be kept beside what a round
// needs, one vector above the bound on a node's memory (docs/benchmarks.md). The wait does not
// depend on this node: peers can take messages of earlier rounds whatever it does.
//
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

#endif  // GRAPEVINE_NODE_RUNNER_NODE_GRADIENTS_H_
