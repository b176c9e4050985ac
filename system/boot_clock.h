// A clock that goes on while the machine is suspended, as that of a file server or of etcd does:
// std::chrono::steady_clock stands still meanwhile. For promises about others' time, such as how
// long a lease lasts.
#ifndef GRAPEVINE_SYSTEM_BOOT_CLOCK_H_
#define GRAPEVINE_SYSTEM_BOOT_CLOCK_H_

#include <time.h>

#include <chrono>

namespace grapevine {

struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;

  static time_point now() {
    timespec time = {};
    clock_gettime(CLOCK_BOOTTIME, &time);
    return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
  }
};

// The same as a time of std::chrono::steady_clock, for what may be told either: ahead of that by as
// long as the machine has been suspended, so nothing to wait for.
inline std::chrono::steady_clock::time_point TimeSinceBoot() {
  return std::chrono::steady_clock::time_point(BootClock::now().time_since_epoch());
}

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_BOOT_CLOCK_H_
