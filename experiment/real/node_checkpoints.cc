#include "experiment/real/node_checkpoints.h"

#include <glog/logging.h>

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "run/checkpoint/checkpoint_directory.h"

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
  const Round round = saved.state.round;
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
  Report(std::move(part));
  return absl::OkStatus();
}

void NodeCheckpoints::Report(control::SavedPart part) {
  const Round round = part.round();
  {
    MutexLock lock(mutex_);
    reported_ = round;
  }
  // Then it is no checkpoint; the run can go on without.
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

}  // namespace grapevine
