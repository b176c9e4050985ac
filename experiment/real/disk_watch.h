// Notices that the disk of a node's run directory does not answer. Any thread that writes there is
// then kept by the kernel, including the one that trains (it writes a recording, and the node's own
// model at the end), and cannot say so itself. The watch therefore has a thread of its own.
#ifndef GRAPEVINE_EXPERIMENT_REAL_DISK_WATCH_H_
#define GRAPEVINE_EXPERIMENT_REAL_DISK_WATCH_H_

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "system/mutex.h"

namespace grapevine {

class DiskWatch {
 public:
  // Calls `stalled` on the watch's own thread, at most once, when a system call for one file of
  // `folder` has taken longer than `patience`. The status is kOutput and names the file. Time in
  // which the process itself is stopped does not count.
  DiskWatch(std::string folder, std::chrono::nanoseconds patience,
            std::function<void(const absl::Status&)> stalled);
  ~DiskWatch();
  DiskWatch(const DiskWatch&) = delete;
  DiskWatch& operator=(const DiskWatch&) = delete;

 private:
  void Loop();
  // Sleeps until the next look. Returns false if the watch has ended.
  bool Sleep();

  const std::string folder_;
  const std::chrono::nanoseconds patience_;
  const std::chrono::nanoseconds interval_;  // time between two looks
  const std::function<void(const absl::Status&)> stalled_;
  Mutex mutex_;
  Condition changed_;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_DISK_WATCH_H_
