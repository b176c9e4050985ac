// The files that a run leaves behind:
//
//   config.textproto        the resolved configuration, with seed and revision
//   metrics.jsonl           the whole run (RunMetrics)
//   summary.json            its results (Summary)
//   statistics.json         of a simulated run: where its time went (Statistics)
//   trace.json              with --trace=RUN/trace.json: what every node did and when
//   cell-inputs.txt         of a sweep's cell that named files: which they were
//   chaos.jsonl             of a run with --chaos: the faults that began
//   (run/chaos/fault_timeline.h)
//   events.out.tfevents.*   with --tensorboard: metrics.jsonl for TensorBoard (event_file.h)
//   model.safetensors       the averaged model
//   node-RANK/              each node's own metrics.jsonl and model
//   checkpoints/            what --resume goes on from (run/checkpoint/checkpoint_directory.h)
//   run.lock                while it runs: who writes it (RunLock)
//
// All errors are kOutput and name the path.
#ifndef GRAPEVINE_RUN_RECORDS_RUN_DIRECTORY_H_
#define GRAPEVINE_RUN_RECORDS_RUN_DIRECTORY_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "run/config/config.pb.h"
#include "run/records/metrics.h"
#include "run/records/output_file.h"
#include "run/records/run_files.h"
#include "run/records/statistics.h"
#include "system/file.h"

namespace grapevine {

// Who writes a run directory, or a sweep's: one process at a time. Its file, run.lock, says who.
// Held while it lives, and no longer than its process, however that ends: the file that a killed
// one has left holds nobody up. Thread-compatible.
class RunLock {
 public:
  // Of an existing folder. Refused at once, with its process, host and time, if another one has it.
  // On a file system without locks everybody gets it.
  static absl::StatusOr<std::unique_ptr<const RunLock>> Take(const std::string& folder,
                                                             absl::Time now);
  ~RunLock();
  // What its file says: who sees the same in it sees this folder. Empty where there is none.
  const std::string& text() const { return text_; }
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  RunLock(std::string path, std::optional<FileLock> lock, std::string text);

  const std::string path_;
  const std::optional<FileLock> lock_;
  const std::string text_;
};

// One that this process alone writes, until it lets go of the lock.
struct LockedFolder {
  std::string path;
  std::unique_ptr<const RunLock> lock;
};
// And what processes that died while they wrote it have left unfinished is removed.
absl::StatusOr<LockedFolder> LockFolder(std::string path, absl::Time now);

// Take's refusal, if there would be one; touches nothing.
absl::Status CheckNobodyWrites(const std::string& folder);

// What is in a folder besides its lock and unfinished files. An error if it is not a folder.
absl::StatusOr<FoundFolder> LookBesideLock(const std::string& folder);

// "runs/20261120-123320-ring-dpsgd-n4": the path of a run without --out.
std::string DefaultRunPath(const Config& config, absl::Time now);

// Whether `path` holds a run: a config.textproto, however far the run got.
bool IsRunDirectory(const std::string& path);

// Whether CreateRunDirectory would succeed, for a dry run; touches nothing.
absl::Status CheckRunDirectory(const Config& config);
// Whether the files of --trace, --profile and --record, if wanted, can be written. Those in the run
// directory can if that can be made (CheckRunDirectory).
absl::Status CheckRecordings(const Config& config);

// Where a run will have its files, before it begins: this process alone may write there, and what
// an earlier run has left stays until then, so that nothing is taken from a run that turns out to
// live elsewhere. Thread-compatible.
class RunReservation {
 public:
  // Reserves config.out(), or a default path beside earlier runs. An existing path is refused while
  // another process writes it, and unless it is an empty folder, or a run directory and `overwrite`
  // is set.
  static absl::StatusOr<RunReservation> Make(const Config& config, absl::Time now);
  // Of a run that goes on there, or that another process begins: there is nothing to begin.
  explicit RunReservation(LockedFolder folder) : folder_(std::move(folder)) {}

  const std::string& path() const { return folder_.path; }
  // Makes it a fresh run directory: removes the files of the earlier run, and no others, and writes
  // config.textproto.
  absl::Status Begin();
  // The run has come to nothing: removes what has been written since Begin, if that was called, so
  // that nothing is in the way of the next attempt.
  absl::Status Undo();
  // Once it has begun.
  LockedFolder Release() && { return std::move(folder_); }

 private:
  LockedFolder folder_;
  std::optional<Config> config_;  // until it has begun, if it is to
  bool begun_ = false;
};

// Reserves and begins one.
absl::StatusOr<LockedFolder> CreateRunDirectory(const Config& config, absl::Time now);

// Creates `run`/node-RANK (and `run` itself, on another machine) and returns it. What processes
// that died while they wrote it have left unfinished is removed.
absl::StatusOr<std::string> CreateNodeDirectory(const std::string& run, int rank);

// The same for a process that is one node. If it shares a file system with rank 0,
// CreateRunDirectory has prepared the folder; otherwise the files of an earlier run are refused,
// or removed with `overwrite`.
absl::StatusOr<std::string> PrepareNodeDirectory(const std::string& run, int rank, bool overwrite);

std::string NodeDirectory(const std::string& run, int rank);
std::string ConfigPath(const std::string& run);
std::string MetricsPath(const std::string& folder);  // of a run or of a node
std::string SummaryPath(const std::string& run);
std::string StatisticsPath(const std::string& run);
// Where a trace is that belongs to the run: --trace=RUN/trace.json.
std::string TracePath(const std::string& run);
std::string ModelPath(const std::string& folder);  // of a run (the averaged one) or of a node

// Whether a run has come to its end there.
bool HasResults(const std::string& run);
// Before such a run goes on from an earlier round, first of all: on the disk, too, there is never a
// summary of later rounds than metrics.jsonl has.
absl::Status RemoveResults(const std::string& run);

// Errors are kInput and name the file.
absl::StatusOr<Summary> ReadSummary(const std::string& run);
// Absent if there is no such file: of a real run, or one that has not ended.
absl::StatusOr<std::optional<RecordedStatistics>> ReadStatisticsIfAny(const std::string& run);
// Empty if there is no such file.
std::string ReadInputs(const std::string& run);
// Written completely or not at all.
absl::Status WriteSummary(const std::string& run, const Summary& summary,
                          const WriteGuard& guard = {});
absl::Status WriteInputs(const std::string& run, const std::string& text);
absl::Status WriteStatistics(const std::string& run, const Statistics& statistics);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_RUN_DIRECTORY_H_
