// A file that grows line by line, such as metrics.jsonl, and a way to write it without ever
// waiting for the disk.
#ifndef GRAPEVINE_RUN_RECORDS_LINE_FILE_H_
#define GRAPEVINE_RUN_RECORDS_LINE_FILE_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "system/background_writer.h"

namespace grapevine {

// Thread-compatible; Sync from any thread. Readers of the file see only whole lines, as soon as
// Append returns; when the disk is full, a partial line is removed again. Errors are kOutput and
// name the file.
class LineFile {
 public:
  // Appends to `path`, which is created if missing.
  static absl::StatusOr<std::unique_ptr<LineFile>> Open(std::string path);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  // `line` has no line break.
  absl::Status Append(std::string_view line);
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
// written. Errors are kOutput and name the file.
class BackgroundLines {
 public:
  static constexpr size_t kCapacity = size_t{1} << 24;  // pending bytes

  // `failed` receives the first error, on the writing thread or within Append.
  BackgroundLines(std::unique_ptr<LineFile> file, std::function<void(const absl::Status&)> failed);
  // Gives pending lines a few seconds, then leaves them to the thread: a stalled disk does not
  // keep the process alive.
  ~BackgroundLines() = default;

  // Never waits for the disk. `line` has no line break.
  void Append(std::string_view line) { writer_.Write(std::string(line)); }

  // Waits until all lines are in the file. Returns the first error, or one that says how long the
  // file has made no progress by `deadline`.
  absl::Status Drain(std::chrono::steady_clock::time_point deadline);
  // The same, and all lines are on the disk.
  absl::Status Sync(std::chrono::steady_clock::time_point deadline);

 private:
  const std::shared_ptr<LineFile> file_;
  BackgroundWriter writer_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_LINE_FILE_H_
