#include "experiment/real/disk_watch.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "system/disk_wait.h"
#include "system/file_descriptor.h"

namespace grapevine {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

DiskWatch::DiskWatch(std::string folder, nanoseconds patience,
                     std::function<void(const absl::Status&)> stalled)
    : folder_(std::move(folder)),
      patience_(patience),
      interval_(std::clamp<nanoseconds>(patience / 16, std::chrono::milliseconds(1),
                                        std::chrono::seconds(1))),
      stalled_(std::move(stalled)) {
  const SignalsAreForOthers meanwhile;
  thread_ = std::thread([this] { Loop(); });
}

DiskWatch::~DiskWatch() {
  {
    MutexLock lock(mutex_);
    over_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

bool DiskWatch::Sleep() {
  const Clock::time_point until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(interval_);
  MutexLock lock(mutex_);
  while (!over_ && Clock::now() < until) changed_.WaitUntil(mutex_, until);
  return !over_;
}

// Each look that finds the same call counts as one interval, however late it comes: a process that
// was stopped has not waited for its disk meanwhile.
void DiskWatch::Loop() {
  uint64_t number = 0;
  nanoseconds waited{};
  while (Sleep()) {
    const std::optional<DiskWait::Pending> pending = DiskWait::Earliest(folder_);
    if (!pending) continue;
    waited = pending->number == number ? waited + interval_ : nanoseconds(0);
    number = pending->number;
    if (waited <= patience_) continue;
    return stalled_(OutputError(
        absl::StrCat("cannot write to ", pending->path, ": its disk has taken nothing for ",
                     HumanSeconds(waited), " (half of --step-timeout is how long that may last)")));
  }
}

}  // namespace grapevine
