// A command's output files and the folders that hold them: files that are written completely or not
// at all, and those that grow line by line, such as metrics.jsonl.
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

// The same status with Failure::kOutput, unless it has another already; OK stays OK.
absl::Status AsOutputStatus(absl::Status status);

// Writes a temporary file, fsyncs it and renames it.
absl::Status WriteOutputFile(const std::string& path, std::string_view bytes,
                             const WriteGuard& guard = {});

// "cannot remove runs/ring: Permission denied".
absl::Status OutputFolderError(const std::error_code& error, std::string_view what,
                               const std::string& path);

// What exists at a path before anything is written.
enum class FoundFolder { kNothing, kEmpty, kFull };

// An error if it is not a folder.
absl::StatusOr<FoundFolder> LookAtFolder(const std::string& path);

// Whether files can be created in the folder or, if it does not exist, in its nearest existing
// ancestor.
absl::Status CheckWritable(const std::string& path);

// With its ancestors; it may exist.
absl::Status CreateFolders(const std::string& path);

// Creates a folder that did not exist before: `path`, else `path`-2, `path`-3 ...
absl::StatusOr<std::string> CreateFreshFolder(const std::string& path);

// A file that grows line by line, or record by record. Thread-compatible; Sync from any thread.
// Readers of the file see only whole ones, as soon as Append returns; when the disk is full, a
// partial one is removed again.
class LineFile {
 public:
  // Appends to `path`, which is created if missing.
  static absl::StatusOr<std::unique_ptr<LineFile>> Open(std::string path);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  // `line` has no line break.
  absl::Status Append(std::string_view line);
  // `record` as it is: of a format that knows where each ends.
  absl::Status AppendRecord(std::string_view record);
  // All lines so far are on the disk.
  absl::Status Sync() const;
  const std::string& path() const { return path_; }

 private:
  LineFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_;
};

// Appends lines to a file whose disk may stall: a full network file system, a server that is
// down. A thread of its own writes, so that callers never wait. Thread-safe. No line is dropped:
// too many pending lines are an error; after that, or after an error of the file, nothing more is
// written.
class BackgroundLines {
 public:
  static constexpr size_t kCapacity = size_t{1} << 24;  // pending bytes

  // `failed` receives the first error, on the writing thread or within Append. `guard` allows each
  // append, on the writing thread, which may outlive this while it waits for that.
  BackgroundLines(std::unique_ptr<LineFile> file, std::function<void(const absl::Status&)> failed,
                  WriteGuard guard = {});
  // Gives pending lines a few seconds, then leaves them to the thread: a stalled disk does not
  // keep the process alive.
  ~BackgroundLines() = default;

  // Never waits for the disk. `line` has no line break.
  void Append(std::string_view line) { writer_.Write(std::string(line) + "\n"); }
  // The same, without a line break.
  void AppendRecord(std::string record) { writer_.Write(std::move(record)); }

  // Waits until all lines are in the file. Returns the first error, or one that says how long the
  // file has made no progress by `deadline`.
  absl::Status Drain(std::chrono::steady_clock::time_point deadline);
  // The same, and all lines are on the disk. A disk that does not answer keeps a thread, not the
  // caller.
  absl::Status Sync(std::chrono::steady_clock::time_point deadline);

 private:
  const std::shared_ptr<LineFile> file_;
  BoundedCall syncs_;
  BackgroundWriter writer_;
};

// Of the metrics.jsonl of a run that goes on from an earlier round than it had got to: the lines of
// rounds until `round`. No file: none. A line that is none of a round is kInput, with the file and
// its number.
absl::StatusOr<std::vector<std::string>> ReadLinesUntil(const std::string& path, int64_t round);

// Removes the others from the file, and what a killed process has not written to its end; returns
// those that stay.
absl::StatusOr<std::vector<std::string>> KeepLinesUntil(const std::string& path, int64_t round);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_OUTPUT_FILE_H_
