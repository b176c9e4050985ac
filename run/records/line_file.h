// A file that grows line by line, metrics.jsonl, and the same for those who must not wait
// for the disk.
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

// Thread-compatible. A reader of the file sees whole lines only, as soon as
// Append returns; when the disk is full the part of a line that fitted is taken
// back. Errors are kOutput and name the file.
class LineFile {
 public:
  // Appends to `path`; creates it where it is missing.
  static absl::StatusOr<std::unique_ptr<LineFile>> Open(std::string path);
  ~LineFile();
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  // `line` has no line break.
  absl::Status Append(std::string_view line);
  const std::string& path() const { return path_; }

 private:
  LineFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_;
};

// Lines of a file behind a disk that may stall: a full network file system, a server that
// is down. A thread of its own writes, so that whoever has a line never waits. Thread-safe.
// No line is dropped: where too many wait, that is an error, after which, as after one of
// the file's, nothing is written. Errors are kOutput and name the file.
class BackgroundLines {
 public:
  static constexpr size_t kCapacity = size_t{1} << 24;  // bytes that wait

  // `failed` hears the first error, on the thread that writes or within Append.
  BackgroundLines(std::unique_ptr<LineFile> file, std::function<void(const absl::Status&)> failed);
  // Gives what is left a few seconds, then leaves it to the thread: a disk that stalls
  // keeps no process.
  ~BackgroundLines() = default;

  // Never waits for the disk. `line` has no line break.
  void Append(std::string_view line) { writer_.Write(std::string(line)); }

  // Waits until all lines are in the file: the first error, or one that says how long the
  // file has stood still by `deadline`.
  absl::Status Drain(std::chrono::steady_clock::time_point deadline);

 private:
  BackgroundWriter writer_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_LINE_FILE_H_
