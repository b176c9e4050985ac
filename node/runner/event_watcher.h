// A thread that waits for events of a device, one after the other, so that nobody
// else has to.
#ifndef GRAPEVINE_NODE_RUNNER_EVENT_WATCHER_H_
#define GRAPEVINE_NODE_RUNNER_EVENT_WATCHER_H_

#include <deque>
#include <functional>
#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "kernels/device/device.h"
#include "system/mutex.h"

namespace grapevine {

// Thread-safe.
class EventWatcher {
 public:
  // Above what one node can have under way: chunks of all its messages.
  static constexpr size_t kMaxEvents = size_t{1} << 20;

  // `on_failure` hears of the first event that fails; no call comes after it.
  explicit EventWatcher(std::function<void(absl::Status why)> on_failure);
  // Lets go of what has not passed.
  ~EventWatcher();

  // Calls `passed` on the watcher's thread when `event` and all before it have passed.
  void Watch(std::shared_ptr<DeviceEvent> event, std::function<void()> passed);

 private:
  struct Watched {
    std::shared_ptr<DeviceEvent> event;
    std::function<void()> passed;
  };

  void Loop();
  // Waits for work; false when the watcher stops.
  bool Next(Watched* watched);
  // Waits for the event; false when it failed or the watcher stops.
  bool Await(DeviceEvent& event);
  bool stopping();

  const std::function<void(absl::Status why)> on_failure_;
  Mutex mutex_;
  Condition changed_;
  std::deque<Watched> watched_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_EVENT_WATCHER_H_
