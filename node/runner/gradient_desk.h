// The desk of a node whose gradients are computed elsewhere: the training loop of another program
// takes a replica from the desk and leaves the gradient there, as fast as it can.
//
// In an open-ended run the loop may end whenever it likes (Retire). The node *coasts* from then on:
// if others need it in further rounds, the desk itself leaves gradients that change nothing
// (node/control/closing.h).
//
// The runner sees a GradientComputer. Therefore the replicas are in flight while the caller
// computes, as they are while a GradientWorker does. The desk outlives the runner, because the
// caller may keep what it was given until it asks again.
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

// Thread-safe, for one caller at a time.
class GradientDesk {
 public:
  // A gradient that the node waits for or, at the end of the run, only the final model.
  struct Task {
    Round round = 0;
    SharedVector replica;   // read-only: neighbours may be taking it
    SharedVector gradient;  // to be written whole; no data: the run is over
    bool over() const { return gradient.data == nullptr; }
  };

  // The caller's side:
  //
  // Returns the next wanted gradient as soon as one is wanted, and the same one again until it is
  // delivered. Returns nothing at the deadline. Returns an error if the run has failed, now and
  // from then on.
  absl::StatusOr<std::optional<Task>> Await(std::chrono::steady_clock::time_point deadline);
  // Reports that the caller has written the gradient of the task that Await returned. `loss` is the
  // mean over its batch, NaN if it is unknown. Returns FailedPrecondition if no task is
  // outstanding. If the node has ended meanwhile, the gradient is discarded, and Await tells how
  // the node ended.
  absl::Status Deliver(double loss);
  // Declares, in an open-ended run, that the caller gives no more gradients. A task that it holds
  // and has not delivered is no longer a task. `all`: the programs of the other nodes shall give no
  // more either.
  void Retire(bool all = false);

  // The node's side:
  //
  // Makes a computer for RunnerOptions::gradients. The desk outlives it.
  std::unique_ptr<GradientComputer> NewComputer(GradientReports reports);
  // The parameters of an open-ended run.
  struct OpenEnd {
    // The number of elements in the replica's section of parameters (ReplicaLayout).
    int64_t parameters = 0;
    // Called when the caller has retired, with the number of its gradients, including those before
    // the state that the run goes on from. Called from any thread: once, and once more if `all` is
    // set later.
    std::function<void(Round gradients, bool all)> on_spent;
  };
  // Must be called before NewComputer.
  void SetOpenEnd(OpenEnd open) { open_ = std::move(open); }
  // Makes the caller retire as soon as it has delivered the task that it holds.
  void RetireSoon();
  // Lets a caller that has retired go on, without gradients, through the rounds below this one.
  void Coast(Round below);
  // Ends the desk's work after all gradients; `model` is the result of them.
  void Finish(SharedVector model);
  // Reports that the run has failed, unless it has finished.
  void Close(absl::Status why);

 private:
  class Computer;
  struct Request {
    Task task;
    std::vector<int64_t> cuts;
    std::chrono::steady_clock::time_point begin;
    bool given = false;  // whether the caller has the task
  };

  absl::Status Take(double loss);
  // Reports that the wanted gradient is written.
  void Report(double loss) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Writes a gradient with which a plain step changes nothing.
  void WriteStill(const Task& task) const;
  void CoastIfWanted() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns whether on_spent is due.
  bool TakeSpent() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void TellIfSpent();

  OpenEnd open_;
  Mutex mutex_;
  Condition changed_;
  const GradientReports* reports_ ABSL_GUARDED_BY(mutex_) = nullptr;  // while a computer exists
  std::optional<Request> wanted_ ABSL_GUARDED_BY(mutex_);
  std::optional<Round> delivered_ ABSL_GUARDED_BY(mutex_);  // number of gradients, once one exists
  bool retires_soon_ ABSL_GUARDED_BY(mutex_) = false;
  bool retired_ ABSL_GUARDED_BY(mutex_) = false;
  // The number of gradients of a caller that has retired.
  std::optional<Round> spent_ ABSL_GUARDED_BY(mutex_);
  bool all_ ABSL_GUARDED_BY(mutex_) = false;  // whether all are to retire
  bool all_told_ ABSL_GUARDED_BY(mutex_) = false;
  Round coasts_ ABSL_GUARDED_BY(mutex_) = 0;  // coasts below this round
  // Whether the node has ended while the caller had a task.
  bool dropped_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<Task> end_ ABSL_GUARDED_BY(mutex_);
  absl::Status closed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_GRADIENT_DESK_H_
