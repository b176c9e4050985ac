// Lines of a file behind a disk that may stall: a full network file system, a server
// that is down. A thread of its own writes, so that whoever has a line never waits.
#ifndef GRAPEVINE_RUN_RECORDS_BACKGROUND_LINES_H_
#define GRAPEVINE_RUN_RECORDS_BACKGROUND_LINES_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "run/records/line_file.h"
#include "system/background_writer.h"

namespace grapevine {

// Thread-safe. No line is dropped: where too many wait, that is an error, after which, as
// after one of the file's, nothing is written. Errors are kOutput and name the file.
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

#endif  // GRAPEVINE_RUN_RECORDS_BACKGROUND_LINES_H_
