#include "experiment/real/node_checkpoints.h"

#include <glog/logging.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "experiment/core/experiment_results.h"
#include "experiment/core/other_nodes.h"
#include "model/problem/averaged_model.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/checkpoint/checkpoint_files.h"

namespace grapevine {

void NodeCheckpoints::Save(SavedNode saved, std::chrono::nanoseconds time) {
  const auto kept = std::make_shared<SavedNode>(std::move(saved));
  worker_.Do([this, kept, time] { Write(*kept, time); });
}

void NodeCheckpoints::OnComplete(Round round) {
  MutexLock lock(mutex_);
  if (round > reported_) return;
  kept_ = std::exchange(complete_, round);
  if (std::exchange(removing_, true)) return;
  worker_.Do([this] { RemoveOld(); });
}

absl::Status NodeCheckpoints::Drain(std::chrono::steady_clock::time_point deadline) {
  const bool drained = worker_.Drain(deadline);
  MutexLock lock(mutex_);
  if (drained || !status_.ok()) return status_;
  return OutputError(absl::StrCat("rank ", parts_.rank, ": ", parts_.run_directory,
                                  "/checkpoints takes no checkpoint: its disk makes no progress"));
}

void NodeCheckpoints::Write(const SavedNode& saved, std::chrono::nanoseconds time) {
  const absl::Status status = WriteAndReport(saved, time);
  if (status.ok()) return parts_.written();
  {
    MutexLock lock(mutex_);
    status_.Update(status);
  }
  parts_.failed(status);
}

absl::Status NodeCheckpoints::WriteAndReport(const SavedNode& saved,
                                             std::chrono::nanoseconds time) {
  const Round round = saved.checkpoint;
  RETURN_IF_ERROR(parts_.sync_metrics());
  ASSIGN_OR_RETURN(const std::string checkpoint, OpenCheckpoint(parts_.run_directory, round));
  ASSIGN_OR_RETURN(const CheckpointPart written,
                   WriteNodePart(checkpoint, parts_.rank, saved.state));
  control::SavedPart part;
  part.set_round(round);
  part.set_bytes(written.bytes());
  part.set_checksum(written.checksum());
  part.set_bytes_sent(saved.bytes_sent);
  part.set_bytes_received(saved.bytes_received);
  part.set_time_ns(time.count());
  part.set_steps(saved.state.round);
  Report(std::move(part));
  return absl::OkStatus();
}

void NodeCheckpoints::Report(control::SavedPart part) {
  const Round round = part.round();
  {
    MutexLock lock(mutex_);
    reported_ = round;
  }
  // A checkpoint with a part that is not reported is never complete; the run can go on without it.
  if (const absl::Status told = parts_.report(std::move(part)); !told.ok()) {
    LOG(WARNING) << "rank " << parts_.rank << ": the checkpoint of round " << round
                 << " is not reported: " << told.message();
  }
}

void NodeCheckpoints::RemoveOld() {
  const Round kept = TakeKept();
  const absl::Status removed = RemoveNodeParts(parts_.run_directory, parts_.rank,
                                               [kept](Round round) { return round >= kept; });
  // Rank 0 removes the same files where the nodes share a disk.
  if (!removed.ok()) VLOG(1) << removed.message();
}

Round NodeCheckpoints::TakeKept() {
  MutexLock lock(mutex_);
  removing_ = false;
  return kept_;
}

namespace {

CheckpointManifest ManifestWith(CheckpointManifest manifest,
                                const CheckpointDesk::Complete& complete) {
  manifest.set_round(complete.round);
  for (const auto& [rank, saved] : complete.parts) {
    if (complete.changed) manifest.add_members(rank);
    CheckpointPart& part = *manifest.add_nodes();
    part.set_bytes(saved.bytes());
    part.set_checksum(saved.checksum());
    part.set_bytes_sent(saved.bytes_sent());
    part.set_bytes_received(saved.bytes_received());
    if (saved.steps() != complete.round) part.set_steps(saved.steps());
    manifest.set_time_ns(std::max(manifest.time_ns(), saved.time_ns()));
  }
  return manifest;
}

// Returns the model in a node's part; NotFound if the algorithm keeps none.
absl::StatusOr<SharedVector> ModelOf(const std::string& checkpoint, Rank rank,
                                     const CheckpointPart& part) {
  ASSIGN_OR_RETURN(SharedVector model, ReadNodeModel(NodePartPath(checkpoint, rank), rank, part));
  if (model.size == 0) return absl::NotFoundError("the state has no model");
  return model;
}

}  // namespace

CheckpointCompletion::CheckpointCompletion(Parts parts)
    : parts_(std::move(parts)), desk_(parts_.desk) {}

void CheckpointCompletion::OnCalled(Round round) {
  MutexLock lock(mutex_);
  desk_.OnCalled(round);
}

absl::Status CheckpointCompletion::OnPart(Rank rank, const control::SavedPart& part) {
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(desk_.OnPart(rank, part));
  Look();
  return absl::OkStatus();
}

void CheckpointCompletion::OnLost(Rank rank) {
  MutexLock lock(mutex_);
  desk_.OnLost(rank);
  Look();
}

void CheckpointCompletion::OnNewcomer(Rank rank, Round from) {
  MutexLock lock(mutex_);
  desk_.OnNewcomer(rank, from);
}

void CheckpointCompletion::OnInherited(Round complete) {
  MutexLock lock(mutex_);
  desk_.OnInherited(complete);
}

void CheckpointCompletion::OnMeasured(Round round) {
  MutexLock lock(mutex_);
  desk_.OnMeasured(round);
  Look();
}

void CheckpointCompletion::OnOver(Round round) {
  MutexLock lock(mutex_);
  desk_.OnOver(round);
}

absl::Status CheckpointCompletion::Drain(std::chrono::steady_clock::time_point deadline) {
  const bool drained = worker_.Drain(deadline);
  MutexLock lock(mutex_);
  if (drained || !status_.ok()) return status_;
  return OutputError(absl::StrCat(parts_.run_directory,
                                  "/checkpoints takes no checkpoint: its disk makes no progress"));
}

void CheckpointCompletion::Look() {
  if (looking_ || !desk_.ready()) return;
  looking_ = true;
  worker_.Do([this] { CompleteReady(); });
}

std::optional<CheckpointDesk::Complete> CheckpointCompletion::TakeReady() {
  MutexLock lock(mutex_);
  std::optional<CheckpointDesk::Complete> ready = desk_.Take();
  looking_ = ready.has_value();
  return ready;
}

void CheckpointCompletion::CompleteReady() {
  while (const std::optional<CheckpointDesk::Complete> ready = TakeReady()) {
    if (const absl::Status status = Complete(*ready); !status.ok()) {
      return Fail(WhyItFailed(parts_.guard, status));
    }
    parts_.completed(ready->round);
  }
}

void CheckpointCompletion::Fail(const absl::Status& why) {
  {
    MutexLock lock(mutex_);
    status_ = why;
  }
  parts_.failed(why);
}

absl::Status CheckpointCompletion::Complete(const CheckpointDesk::Complete& complete) {
  RETURN_IF_ERROR(parts_.sync_metrics());
  CheckpointManifest manifest = ManifestWith(parts_.manifest, complete);
  if (parts_.describe) parts_.describe(&manifest);
  ASSIGN_OR_RETURN(const std::string checkpoint,
                   OpenCheckpoint(parts_.run_directory, complete.round));
  RETURN_IF_ERROR(WriteModel(checkpoint, &manifest));
  return CompleteCheckpoint(parts_.run_directory, checkpoint, manifest, parts_.guard);
}

absl::Status CheckpointCompletion::WriteModel(const std::string& checkpoint,
                                              CheckpointManifest* manifest) {
  if (!SeesAllParts(checkpoint, *manifest)) {
    LeaveModelOut("other nodes' parts are on other disks");
    return absl::OkStatus();
  }
  const Experiment& experiment = *parts_.experiment;
  const absl::StatusOr<AveragedModel> average = ModelThatCounts(
      *manifest, experiment,
      [&](Rank rank) { return ModelOf(checkpoint, rank, PartOf(*manifest, rank)); });
  if (absl::IsNotFound(average.status())) return absl::OkStatus();
  if (!average.ok()) {
    LeaveModelOut(std::string(average.status().message()));
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(WriteAveragedModel(experiment, *average, checkpoint, parts_.guard));
  ASSIGN_OR_RETURN(*manifest->mutable_model(), LookAtPart(ModelPartPath(checkpoint)));
  return absl::OkStatus();
}

void CheckpointCompletion::LeaveModelOut(std::string_view why) {
  if (std::exchange(told_, true)) return;
  LOG(INFO) << "checkpoints are without their averaged model where rank 0 does not see what all "
               "nodes have written: "
            << why;
}

bool CheckpointCompletion::SeesAllParts(const std::string& checkpoint,
                                        const CheckpointManifest& manifest) const {
  for (const Rank rank : MembersOf(manifest)) {
    std::error_code error;
    if (!std::filesystem::exists(NodePartPath(checkpoint, rank), error)) return false;
  }
  return true;
}

}  // namespace grapevine
