// A real node's parts of its run's checkpoints: written to its disk in the background, and reported
// to rank 0.
#ifndef GRAPEVINE_EXPERIMENT_REAL_NODE_CHECKPOINTS_H_
#define GRAPEVINE_EXPERIMENT_REAL_NODE_CHECKPOINTS_H_

#include <chrono>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "base/ids.h"
#include "node/control/control.pb.h"
#include "node/runner/state_lane.h"
#include "system/mutex.h"
#include "system/worker_thread.h"

namespace grapevine {

// Thread-safe.
class NodeCheckpoints {
 public:
  struct Parts {
    std::string run_directory;
    Rank rank = 0;
    // On the thread that writes: what the node's files say of its rounds is on the disk.
    std::function<absl::Status()> sync_metrics;
    // Likewise: its part is on the disk.
    std::function<absl::Status(control::SavedPart)> report;
    // Likewise: there is room for the next state.
    std::function<void()> written;
    std::function<void(const absl::Status&)> failed;
  };
  explicit NodeCheckpoints(Parts parts) : parts_(std::move(parts)) {}

  // Never waits; the last one has been written. `time` since the run began.
  void Save(SavedNode saved, std::chrono::nanoseconds time);
  // A checkpoint is complete: this node's parts of all but this one and the one before it go.
  // Never waits. Of one that this node has no part of, rank 0 cannot know: nothing goes.
  void OnComplete(Round round);
  // Waits until all is written; the first error, or kOutput if that takes longer.
  absl::Status Drain(std::chrono::steady_clock::time_point deadline);

 private:
  void Write(const SavedNode& saved, std::chrono::nanoseconds time);
  absl::Status WriteAndReport(const SavedNode& saved, std::chrono::nanoseconds time);
  void Report(control::SavedPart part);
  void RemoveOld();
  // The first round whose part stays.
  Round TakeKept();

  const Parts parts_;
  Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  Round reported_ ABSL_GUARDED_BY(mutex_) = 0;
  Round complete_ ABSL_GUARDED_BY(mutex_) = 0;  // the last one
  Round kept_ ABSL_GUARDED_BY(mutex_) = 0;      // the one before it
  bool removing_ ABSL_GUARDED_BY(mutex_) = false;
  WorkerThread worker_;  // last: its jobs use the rest; a state and a removal wait at most
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_CHECKPOINTS_H_
