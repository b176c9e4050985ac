// The checkpoints of a real run: each node writes its parts to its disk in the background and
// reports them to rank 0; rank 0 completes a checkpoint once all nodes have theirs.
#ifndef GRAPEVINE_EXPERIMENT_REAL_NODE_CHECKPOINTS_H_
#define GRAPEVINE_EXPERIMENT_REAL_NODE_CHECKPOINTS_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "experiment/core/experiment.h"
#include "node/control/control.pb.h"
#include "node/control/coordinated_checkpoints.h"
#include "node/runner/state_lane.h"
#include "run/checkpoint/checkpoint_files.h"
#include "system/background.h"
#include "system/file.h"
#include "system/mutex.h"

namespace grapevine {

// A node's parts of its run's checkpoints. Thread-safe.
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

// Rank 0's part: once all nodes have theirs on their disks, the averaged model and the manifest,
// which makes a checkpoint valid. Thread-safe. Memory: as many replicas as the tree over the
// workers is deep, while a model is averaged.
class CheckpointCompletion {
 public:
  struct Parts {
    const Experiment* experiment;
    CheckpointManifest manifest;  // the experiment's (ManifestOf)
    std::string run_directory;
    CheckpointDeskOptions desk;
    // On the thread that writes: adds what the manifest of its round says of the run until then.
    std::function<void(CheckpointManifest*)> describe = nullptr;
    // On the thread that writes, before a checkpoint is completed: the run's measurements are on
    // the disk.
    std::function<absl::Status()> sync_metrics;
    // Likewise: it is complete.
    std::function<void(Round)> completed;
    std::function<void(const absl::Status&)> failed;
    WriteGuard guard = {};  // allows the model and the manifest to be renamed
  };
  // All outlive this.
  explicit CheckpointCompletion(Parts parts);

  // As CheckpointDesk's. They never wait.
  void OnCalled(Round round);
  absl::Status OnPart(Rank rank, const control::SavedPart& part);
  void OnLost(Rank rank);
  void OnNewcomer(Rank rank, Round from);
  void OnInherited(Round complete);
  void OnMeasured(Round round);
  void OnOver(Round round);

  // Waits until those that are complete are written; the error of one that failed, or kOutput if
  // that takes longer.
  absl::Status Drain(std::chrono::steady_clock::time_point deadline);

 private:
  // Has the thread look for what is complete, unless it is about to.
  void Look() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CompleteReady();
  // None is completed any more.
  void Fail(const absl::Status& why);
  std::optional<CheckpointDesk::Complete> TakeReady();
  absl::Status Complete(const CheckpointDesk::Complete& complete);
  // The averaged model, if this machine sees all nodes' parts as they were reported.
  absl::Status WriteModel(const std::string& checkpoint, CheckpointManifest* manifest);
  // Says so once.
  void LeaveModelOut(std::string_view why);
  bool SeesAllParts(const std::string& checkpoint, const CheckpointManifest& manifest) const;

  const Parts parts_;
  bool told_ = false;  // of a model that is left out: the thread's
  Mutex mutex_;
  CheckpointDesk desk_ ABSL_GUARDED_BY(mutex_);
  bool looking_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  WorkerThread worker_;  // last: its jobs use the rest
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_CHECKPOINTS_H_
