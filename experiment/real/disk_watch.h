// Notices that the disk of a node's run directory does not answer. Whichever thread writes there is
// kept by the kernel, the one that trains too (a recording, the node's own model at the end), and
// cannot say so itself: this has a thread of its own.
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
  // `stalled` is called on this one's thread, at most once, when a call of the system for one file
  // of `folder` has taken longer than `patience`: with kOutput and the file's name. Time in which
  // the process is stopped itself does not count.
  DiskWatch(std::string folder, std::chrono::nanoseconds patience,
            std::function<void(const absl::Status&)> stalled);
  ~DiskWatch();
  DiskWatch(const DiskWatch&) = delete;
  DiskWatch& operator=(const DiskWatch&) = delete;

 private:
  void Loop();
  // Sleeps until the next look; false if there is none.
  bool Sleep();

  const std::string folder_;
  const std::chrono::nanoseconds patience_;
  const std::chrono::nanoseconds interval_;  // between two looks
  const std::function<void(const absl::Status&)> stalled_;
  Mutex mutex_;
  Condition changed_;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_DISK_WATCH_H_
