// Rank 0's part of a real run's checkpoints: once all nodes have theirs on their disks, the
// averaged model and the manifest, which makes one valid.
#ifndef GRAPEVINE_EXPERIMENT_REAL_CHECKPOINT_COMPLETION_H_
#define GRAPEVINE_EXPERIMENT_REAL_CHECKPOINT_COMPLETION_H_

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
#include "run/checkpoint/manifest.h"
#include "system/mutex.h"
#include "system/worker_thread.h"

namespace grapevine {

// Thread-safe. Memory: as many replicas as the tree over the workers is deep, while a model is
// averaged.
class CheckpointCompletion {
 public:
  struct Parts {
    const Experiment* experiment;
    CheckpointManifest manifest;  // the experiment's (ManifestOf)
    std::string run_directory;
    CheckpointDeskOptions desk;
    // On the thread that writes, before a checkpoint is completed: the run's measurements are on
    // the disk.
    std::function<absl::Status()> sync_metrics;
    // Likewise: it is complete.
    std::function<void(Round)> completed;
    std::function<void(const absl::Status&)> failed;
  };
  // All outlive this.
  explicit CheckpointCompletion(Parts parts);

  // As CheckpointDesk's. They never wait.
  void OnCalled(Round round);
  absl::Status OnPart(Rank rank, const control::SavedPart& part);
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
  bool SeesAllParts(const std::string& checkpoint) const;

  const Parts parts_;
  bool told_ = false;  // of a model that is left out: the thread's
  Mutex mutex_;
  CheckpointDesk desk_ ABSL_GUARDED_BY(mutex_);
  bool looking_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  WorkerThread worker_;  // last: its jobs use the rest
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_CHECKPOINT_COMPLETION_H_
