// Lines of a file behind a disk that may stall: a full network file system, a server
// that is down. A thread of its own writes, so that whoever has a line never waits.
#ifndef GRAPEVINE_RUN_BACKGROUND_LINES_H_
#define GRAPEVINE_RUN_BACKGROUND_LINES_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "run/line_file.h"
#include "system/mutex.h"

namespace grapevine {

// Thread-safe. No line is dropped: where too many wait, that is an error (kOutput), after
// which, as after one of the file's, nothing is written.
class BackgroundLines {
 public:
  static constexpr size_t kMaxWaiting = size_t{1} << 16;

  // `failed` hears of the file's first error, on the thread.
  BackgroundLines(std::unique_ptr<LineFile> file, std::function<void(const absl::Status&)> failed);
  // Writes what waits, for as long as the disk takes.
  ~BackgroundLines();
  BackgroundLines(const BackgroundLines&) = delete;
  BackgroundLines& operator=(const BackgroundLines&) = delete;

  // Never waits for the disk. The first error so far.
  absl::Status Append(std::string line);

  // Waits until all lines are in the file: the first error, or one that says how many are
  // not there by `deadline`.
  absl::Status Drain(std::chrono::steady_clock::time_point deadline);

 private:
  void Loop();
  // The next line, once there is one; false when there will be none.
  bool Next(std::string* line);
  void OnWritten(const absl::Status& status);
  absl::Status Stalled() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::unique_ptr<LineFile> file_;
  const std::function<void(const absl::Status&)> failed_;

  Mutex mutex_;
  Condition changed_;
  std::deque<std::string> waiting_ ABSL_GUARDED_BY(mutex_);  // the one being written first
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_BACKGROUND_LINES_H_
