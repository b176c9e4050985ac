// The output files of a command and the folders that hold them: files that are written completely
// or not at all, and files that grow line by line, such as metrics.jsonl.
//
// All errors are kOutput and name the path, unless said otherwise.
#ifndef GRAPEVINE_RUN_RECORDS_OUTPUT_FILE_H_
#define GRAPEVINE_RUN_RECORDS_OUTPUT_FILE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "system/background.h"
#include "system/deadline.h"
#include "system/file.h"

namespace grapevine {

// Returns `status` with Failure::kOutput, unless it is OK or has another failure already.
absl::Status AsOutputStatus(absl::Status status);

// Writes the file completely or not at all: writes a temporary file, fsyncs it and renames it.
absl::Status WriteOutputFile(const std::string& path, std::string_view bytes,
                             const WriteGuard& guard = {});

// Returns an error such as "cannot remove runs/ring: Permission denied".
absl::Status OutputFolderError(const std::error_code& error, std::string_view what,
                               const std::string& path);

// The content of a path before anything is written there.
enum class FoundFolder { kNothing, kEmpty, kFull };

// Returns what exists at `path`. It is an error if that is not a folder.
absl::StatusOr<FoundFolder> LookAtFolder(const std::string& path);

// Checks whether files can be created in the folder `path` or, if it does not exist, in its nearest
// existing ancestor.
absl::Status CheckWritable(const std::string& path);

// Creates a folder with its ancestors. The folder may exist already.
absl::Status CreateFolders(const std::string& path);

// Creates a folder that did not exist before: `path`, or else `path`-2, `path`-3 ... Returns its
// path.
absl::StatusOr<std::string> CreateFreshFolder(const std::string& path);

// A file that grows line by line, or record by record. Thread-compatible, except that Sync may be
// called from any thread. Readers of the file see only whole lines or records, as soon as Append
// returns. When the disk is full, a partial line or record is removed again.
class LineFile {
 public:
  // Opens `path` to append to it. The file is created if it is missing.
  static absl::StatusOr<std::unique_ptr<LineFile>> Open(std::string path);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  // Appends `line`, which has no line break.
  absl::Status Append(std::string_view line);
  // Appends `record` as it is. Its format must tell where each record ends.
  absl::Status AppendRecord(std::string_view record);
  // Flushes all lines so far to the disk.
  absl::Status Sync() const;
  const std::string& path() const { return path_; }

 private:
  LineFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_;
};

// Appends lines to a file whose disk may stall: a full network file system, a server that is down.
// A thread of its own writes, so that callers never wait. Thread-safe. No line is dropped: too many
// pending lines are an error. After that error, or an error of the file, nothing more is written.
class BackgroundLines {
 public:
  static constexpr size_t kCapacity = size_t{1} << 24;  // pending bytes

  // Calls `failed` with the first error, on the writing thread or within Append. `guard` must
  // permit each append. It is called on the writing thread, which may outlive this object while it
  // waits for the guard.
  BackgroundLines(std::unique_ptr<LineFile> file, std::function<void(const absl::Status&)> failed,
                  WriteGuard guard = {});
  // Waits a few seconds for pending lines, then leaves them to the thread: a stalled disk does not
  // keep the process alive.
  ~BackgroundLines() = default;

  // Appends `line`, which has no line break. Never waits for the disk.
  void Append(std::string_view line) { writer_.Write(std::string(line) + "\n"); }
  // Appends `record` as it is, without a line break. Never waits for the disk.
  void AppendRecord(std::string record) { writer_.Write(std::move(record)); }

  // Waits until all lines are in the file, but no longer than until `deadline`. Returns the first
  // error, or, at the deadline, an error that says for how long the file has made no progress.
  absl::Status Drain(std::chrono::steady_clock::time_point deadline);
  // Waits until all lines are on the disk, but no longer than until `deadline`; see Drain. A disk
  // that does not answer keeps a thread, not the caller.
  absl::Status Sync(std::chrono::steady_clock::time_point deadline);

 private:
  const std::shared_ptr<LineFile> file_;
  BoundedCall syncs_;
  BackgroundWriter writer_;
};

// Returns the lines of rounds until `round` in the metrics.jsonl of a run that goes on from an
// earlier round than it had got to. Empty if there is no file. A line that is no measurement of a
// round is kInput, with the file and the number of the line.
absl::StatusOr<std::vector<std::string>> ReadLinesUntil(const std::string& path, int64_t round);

// Removes from the file all lines of rounds after `round`, and a line at its end that a killed
// process has not completed. Returns the lines that stay; see ReadLinesUntil.
absl::StatusOr<std::vector<std::string>> KeepLinesUntil(const std::string& path, int64_t round);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_OUTPUT_FILE_H_
