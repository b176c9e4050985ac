// The files that a run leaves behind:
//
//   config.textproto        the resolved configuration, with seed and revision
//   metrics.jsonl           the whole run (RunMetrics)
//   summary.json            its results (Summary)
//   statistics.json         of a simulated run: where its time went (Statistics)
//   trace.json              with --trace=RUN/trace.json: what every node did and when
//   cell-inputs.txt         of a sweep's cell that named files: which files
//   chaos.jsonl             of a run with --chaos: the faults that began
//   (run/chaos/fault_timeline.h)
//   events.out.tfevents.*   with --tensorboard: metrics.jsonl for TensorBoard (event_file.h)
//   model.safetensors       the averaged model
//   node-RANK/              each node's own metrics.jsonl and model
//   checkpoints/            what --resume goes on from (run/checkpoint/checkpoint_directory.h)
//   run.lock                while the run goes on: the process that writes it (RunLock)
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

// The lock of a run directory or of a sweep's folder: one process at a time writes there. The file
// run.lock names that process. The lock is held as long as this object lives, and no longer than
// its process, however that ends: the file that a killed process has left blocks nobody.
// Thread-compatible.
class RunLock {
 public:
  // Takes the lock of an existing folder. Fails at once if another process holds it; the error
  // names that process, its host and the time. On a file system without locks every caller gets the
  // lock.
  static absl::StatusOr<std::unique_ptr<const RunLock>> Take(const std::string& folder,
                                                             absl::Time now);
  ~RunLock();
  // The content of run.lock: a process that reads the same content sees this folder. Empty on a
  // file system without locks.
  const std::string& text() const { return text_; }
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  RunLock(std::string path, std::optional<FileLock> lock, std::string text);

  const std::string path_;
  const std::optional<FileLock> lock_;
  const std::string text_;
};

// A folder that this process alone writes, until it releases the lock.
struct LockedFolder {
  std::string path;
  std::unique_ptr<const RunLock> lock;
};
// Locks a folder, and removes the unfinished files of processes that died while they wrote there.
absl::StatusOr<LockedFolder> LockFolder(std::string path, absl::Time now);

// Returns the error with which RunLock::Take would refuse the folder, if any. Touches nothing.
absl::Status CheckNobodyWrites(const std::string& folder);

// Returns what is in a folder besides its lock and unfinished files. It is an error if `folder` is
// not a folder.
absl::StatusOr<FoundFolder> LookBesideLock(const std::string& folder);

// Returns the path of a run without --out: "runs/20261120-123320-ring-dpsgd-n4".
std::string DefaultRunPath(const Config& config, absl::Time now);

// Whether `path` holds a run: a config.textproto, however far the run got.
bool IsRunDirectory(const std::string& path);

// Checks whether CreateRunDirectory would succeed, for a dry run. Touches nothing.
absl::Status CheckRunDirectory(const Config& config);
// Checks whether the files of --trace, --profile and --record, if wanted, can be written. Files in
// the run directory can be written if that can be created (CheckRunDirectory).
absl::Status CheckRecordings(const Config& config);

// The folder of a run before the run begins. This process alone may write there. The files of an
// earlier run stay until Begin, so that a run that turns out to live elsewhere loses nothing.
// Thread-compatible.
class RunReservation {
 public:
  // Reserves config.out(), or a default path beside earlier runs. Refuses an existing path while
  // another process writes it. Otherwise an existing path must be an empty folder or, if
  // `overwrite` is set, a run directory.
  static absl::StatusOr<RunReservation> Make(const Config& config, absl::Time now);
  // Reserves the folder of a run that goes on there, or that another process begins: Begin does
  // nothing.
  explicit RunReservation(LockedFolder folder) : folder_(std::move(folder)) {}

  const std::string& path() const { return folder_.path; }
  // Makes the folder a fresh run directory: removes the files of the earlier run, and no others,
  // and writes config.textproto.
  absl::Status Begin();
  // Removes what has been written since Begin, if Begin was called, because the run has come to
  // nothing: the next attempt finds nothing in its way.
  absl::Status Undo();
  // Returns the folder, once the run has begun.
  LockedFolder Release() && { return std::move(folder_); }

 private:
  LockedFolder folder_;
  std::optional<Config> config_;  // until Begin; absent if Begin has nothing to do
  bool begun_ = false;
};

// Reserves and begins a run directory; see RunReservation.
absl::StatusOr<LockedFolder> CreateRunDirectory(const Config& config, absl::Time now);

// Creates `run`/node-RANK (and `run` itself, on another machine) and returns its path. Removes the
// unfinished files of processes that died while they wrote there.
absl::StatusOr<std::string> CreateNodeDirectory(const std::string& run, int rank);

// Creates the folder of a node for a process that is one node; see CreateNodeDirectory. If the
// process shares a file system with rank 0, CreateRunDirectory has prepared the folder. Otherwise
// the files of an earlier run are refused, or removed with `overwrite`.
absl::StatusOr<std::string> PrepareNodeDirectory(const std::string& run, int rank, bool overwrite);

std::string NodeDirectory(const std::string& run, int rank);
std::string ConfigPath(const std::string& run);
std::string MetricsPath(const std::string& folder);  // of a run or of a node
std::string SummaryPath(const std::string& run);
std::string StatisticsPath(const std::string& run);
// Returns the path of a trace that belongs to the run: --trace=RUN/trace.json.
std::string TracePath(const std::string& run);
std::string ModelPath(const std::string& folder);  // of a run (the averaged one) or of a node

// Whether the run in this directory has ended: it has a summary.
bool HasResults(const std::string& run);
// Removes the results of a run. Must be called before anything else when an ended run goes on from
// an earlier round: the disk, too, must never hold a summary of later rounds than metrics.jsonl
// has.
absl::Status RemoveResults(const std::string& run);

// Reads the summary of a run. Errors are kInput and name the file.
absl::StatusOr<Summary> ReadSummary(const std::string& run);
// Reads the statistics of a run; absent if there is no such file. Real runs and runs that have not
// ended have none.
absl::StatusOr<std::optional<RecordedStatistics>> ReadStatisticsIfAny(const std::string& run);
// Reads cell-inputs.txt; empty if there is no such file.
std::string ReadInputs(const std::string& run);
// Write a file of the run completely or not at all.
absl::Status WriteSummary(const std::string& run, const Summary& summary,
                          const WriteGuard& guard = {});
absl::Status WriteInputs(const std::string& run, const std::string& text);
absl::Status WriteStatistics(const std::string& run, const Statistics& statistics);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_RUN_DIRECTORY_H_
