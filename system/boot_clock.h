// A clock that continues while the machine is suspended, as the clock of a file server or of etcd
// does; std::chrono::steady_clock stands still in that time. It is meant for agreements with other
// machines about time, such as the duration of a lease.
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

// Returns the time of BootClock as a time point of std::chrono::steady_clock, for code that works
// with either clock. It is ahead of steady_clock::now() by the time for which the machine has been
// suspended, and must therefore not be used as a deadline to wait for.
inline std::chrono::steady_clock::time_point TimeSinceBoot() {
  return std::chrono::steady_clock::time_point(BootClock::now().time_since_epoch());
}

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_BOOT_CLOCK_H_
