// Where a node's gradients are computed by somebody else: a training loop of another program, which
// takes a replica from the desk and leaves the gradient there, as fast as it can.
//
// In an open-ended run the loop may end whenever it likes (Retire). The node *coasts* from there
// on: where others need it in further rounds, the desk itself leaves gradients that change nothing
// (node/control/closing.h).
//
// The runner sees a GradientComputer, and so the replicas are in flight while the caller computes,
// as they are while a GradientWorker does. The desk outlives the runner, for the caller may hold
// what it was given until it asks again.
#ifndef GRAPEVINE_NODE_RUNNER_GRADIENT_DESK_H_
#define GRAPEVINE_NODE_RUNNER_GRADIENT_DESK_H_

#include <chrono>
#include <cstdint>
#include <functional>
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
  // In an open-ended run: there will be no more gradients of the caller's. A task that it was given
  // and has not delivered is none any more. `all`: the programs of the other nodes are to do so
  // too.
  void Retire(bool all = false);

  // The node's side:
  // RunnerOptions::gradients; the desk outlives what it makes.
  std::unique_ptr<GradientComputer> NewComputer(GradientReports reports);
  // What an open-ended run needs.
  struct OpenEnd {
    // Elements in the replica's section of parameters (ReplicaLayout).
    int64_t parameters = 0;
    // The caller has retired, after so many gradients, those before a run that goes on included.
    // From any thread; once, and once more if `all` is said later.
    std::function<void(Round gradients, bool all)> on_spent;
  };
  // Before NewComputer.
  void SetOpenEnd(OpenEnd open) { open_ = std::move(open); }
  // The caller is to retire, once it has delivered what it was given.
  void RetireSoon();
  // Who has retired goes on through the rounds below without gradients.
  void Coast(Round below);
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

  absl::Status Take(double loss);
  // The gradient that is wanted is there.
  void Report(double loss) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Of which a plain step changes nothing.
  void WriteStill(const Task& task) const;
  void CoastIfWanted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether there is something to say to on_spent.
  bool TakeSpent() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TellIfSpent();

  OpenEnd open_;
  Mutex mutex_;
  Condition changed_;
  const GradientReports* reports_ ABSL_GUARDED_BY(mutex_) = nullptr;  // while a computer lives
  std::optional<Request> wanted_ ABSL_GUARDED_BY(mutex_);
  std::optional<Round> delivered_ ABSL_GUARDED_BY(mutex_);  // gradients, once there is one
  bool retires_soon_ ABSL_GUARDED_BY(mutex_) = false;
  bool retired_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<Round> spent_ ABSL_GUARDED_BY(mutex_);  // gradients, of a caller that has retired
  bool all_ ABSL_GUARDED_BY(mutex_) = false;            // are to retire
  bool all_told_ ABSL_GUARDED_BY(mutex_) = false;
  Round coasts_ ABSL_GUARDED_BY(mutex_) = 0;      // below this round
  bool dropped_ ABSL_GUARDED_BY(mutex_) = false;  // a task that the caller has, by the node
  std::optional<Task> end_ ABSL_GUARDED_BY(mutex_);
  absl::Status closed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_GRADIENT_DESK_H_
