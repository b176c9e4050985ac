// Where a node's gradients are computed by somebody else: a training loop of another program, which
// takes a replica from the desk and leaves the gradient there, as fast as it can.
//
// The runner sees a GradientComputer, and so the replicas are in flight while the caller computes,
// as they are while a GradientWorker does. The desk outlives the runner, for the caller may hold
// what it was given until it asks again.
#ifndef GRAPEVINE_NODE_RUNNER_GRADIENT_DESK_H_
#define GRAPEVINE_NODE_RUNNER_GRADIENT_DESK_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "kernels/vector/shared_vector.h"
#include "node/runner/node_gradients.h"
#include "system/mutex.h"

namespace grapevine {

// Thread-safe; one caller at a time.
class GradientDesk {
 public:
  // A gradient that the node waits for; or, at the end of the run, the model alone.
  struct Task {
    Round round = 0;
    SharedVector replica;   // to be read only: its neighbours may be taking it
    SharedVector gradient;  // all elements are to be written; no data: the run is over
    bool over() const { return gradient.data == nullptr; }
  };

  // The caller's side:
  // The gradient that is wanted next, once it is; until it is delivered the same one again. None
  // at the deadline. An error: the run has failed, and so it says from then on.
  absl::StatusOr<std::optional<Task>> Await(std::chrono::steady_clock::time_point deadline);
  // The gradient of the task that Await gave has been written; `loss` is its batch's mean,
  // NaN if nobody knows it.
  // FailedPrecondition if there is none. Where the node has ended meanwhile nobody takes it, and
  // Await says how that was.
  absl::Status Deliver(double loss);

  // The node's side:
  // RunnerOptions::gradients; the desk outlives what it makes.
  std::unique_ptr<GradientComputer> NewComputer(GradientReports reports);
  // All gradients are there: this is what became of them.
  void Finish(SharedVector model);
  // The run has failed, unless it has finished.
  void Close(absl::Status why);

 private:
  class Computer;
  struct Request {
    Task task;
    std::vector<int64_t> cuts;
    std::chrono::steady_clock::time_point begin;
    bool given = false;  // to the caller
  };

  Mutex mutex_;
  Condition changed_;
  const GradientReports* reports_ ABSL_GUARDED_BY(mutex_) = nullptr;  // while a computer lives
  std::optional<Request> wanted_ ABSL_GUARDED_BY(mutex_);
  bool dropped_ ABSL_GUARDED_BY(mutex_) = false;  // a task that the caller has, by the node
  std::optional<Task> end_ ABSL_GUARDED_BY(mutex_);
  absl::Status closed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_GRADIENT_DESK_H_
