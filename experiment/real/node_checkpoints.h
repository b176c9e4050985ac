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
#include "node/control/checkpoint_desk.h"
#include "node/control/control.pb.h"
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
    // Flushes to the disk what the node's files say of its rounds. Called on the writing thread.
    std::function<absl::Status()> sync_metrics;
    // Reports a part that is on the disk. Called on the writing thread.
    std::function<absl::Status(control::SavedPart)> report;
    // Called on the writing thread when it has room for the next state.
    std::function<void()> written;
    std::function<void(const absl::Status&)> failed;
  };
  explicit NodeCheckpoints(Parts parts) : parts_(std::move(parts)) {}

  // Saves a state. The state before it must have been written. Never waits. `time` is the time
  // since the run began.
  void Save(SavedNode saved, std::chrono::nanoseconds time);
  // Must be called when the checkpoint of `round` is complete: removes this node's parts of
  // checkpoints older than the complete one before it. Never waits. Removes nothing if this node
  // has not reported a part of the checkpoint: rank 0 cannot know of such a checkpoint.
  void OnComplete(Round round);
  // Waits until everything is written. Returns the first error, or kOutput at `deadline`.
  absl::Status Drain(std::chrono::steady_clock::time_point deadline);

 private:
  void Write(const SavedNode& saved, std::chrono::nanoseconds time);
  absl::Status WriteAndReport(const SavedNode& saved, std::chrono::nanoseconds time);
  void Report(control::SavedPart part);
  void RemoveOld();
  // Returns the first round whose part stays.
  Round TakeKept();

  const Parts parts_;
  Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  Round reported_ ABSL_GUARDED_BY(mutex_) = 0;
  Round complete_ ABSL_GUARDED_BY(mutex_) = 0;  // round of the last complete checkpoint
  Round kept_ ABSL_GUARDED_BY(mutex_) = 0;      // round of the complete checkpoint before it
  bool removing_ ABSL_GUARDED_BY(mutex_) = false;
  WorkerThread worker_;  // last: its jobs use the rest; at most a state and a removal wait
};

// Completes checkpoints on rank 0: once the parts of all nodes are on their disks, writes the
// averaged model and the manifest, which makes a checkpoint valid. Thread-safe. While a model is
// averaged, as many replicas are in memory as the tree over the workers is deep.
class CheckpointCompletion {
 public:
  struct Parts {
    const Experiment* experiment;
    CheckpointManifest manifest;  // what all manifests of the experiment say (ManifestOf)
    std::string run_directory;
    CheckpointDeskOptions desk;
    // Adds to the manifest of a round what it is to say of the run until then. Called on the
    // writing thread.
    std::function<void(CheckpointManifest*)> describe = nullptr;
    // Flushes the run's measurements to the disk, before a checkpoint is completed. Called on the
    // writing thread.
    std::function<absl::Status()> sync_metrics;
    // Called on the writing thread when the checkpoint of this round is complete.
    std::function<void(Round)> completed;
    std::function<void(const absl::Status&)> failed;
    WriteGuard guard = {};  // permits renaming the model and the manifest
  };
  // What `parts` refers to must outlive this object.
  explicit CheckpointCompletion(Parts parts);

  // See the functions of CheckpointDesk. None of them waits.
  void OnCalled(Round round);
  absl::Status OnPart(Rank rank, const control::SavedPart& part);
  void OnLost(Rank rank);
  void OnNewcomer(Rank rank, Round from);
  void OnInherited(Round complete);
  void OnMeasured(Round round);
  void OnOver(Round round);

  // Waits until all checkpoints that are complete are written. Returns the error of one that
  // failed, or kOutput at `deadline`.
  absl::Status Drain(std::chrono::steady_clock::time_point deadline);

 private:
  // Makes the thread look for complete checkpoints, unless it is about to.
  void Look() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void CompleteReady();
  // Reports the error `why`. No checkpoint is completed after it.
  void Fail(const absl::Status& why);
  std::optional<CheckpointDesk::Complete> TakeReady();
  absl::Status Complete(const CheckpointDesk::Complete& complete);
  // Writes the averaged model, if this machine sees all nodes' parts as they were reported.
  absl::Status WriteModel(const std::string& checkpoint, CheckpointManifest* manifest);
  // Logs, once, that checkpoints lack their averaged model.
  void LeaveModelOut(std::string_view why);
  bool SeesAllParts(const std::string& checkpoint, const CheckpointManifest& manifest) const;

  const Parts parts_;
  bool told_ = false;  // whether LeaveModelOut has logged; used by the writing thread alone
  Mutex mutex_;
  CheckpointDesk desk_ ABSL_GUARDED_BY(mutex_);
  bool looking_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  WorkerThread worker_;  // last: its jobs use the rest
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_CHECKPOINTS_H_
