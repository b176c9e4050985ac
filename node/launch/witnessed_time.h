// WitnessedTime is how long a condition has lasted while this process was running to see it.
//
// This process may stand still itself: stopped together with what it watches, or on a machine that
// is frozen. However long that lasts, it counts as little more than one look.
//
// Thread-compatible. Time is passed in.
#ifndef GRAPEVINE_NODE_LAUNCH_WITNESSED_TIME_H_
#define GRAPEVINE_NODE_LAUNCH_WITNESSED_TIME_H_

#include <algorithm>
#include <chrono>
#include <optional>

namespace grapevine {

class WitnessedTime {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // The time from one look to the next. Time beyond twice as much is not counted.
  static constexpr std::chrono::milliseconds kLook{1000};

  // Takes in whether the condition lasts at `now`; if not, its time begins anew.
  void Look(bool lasts, Time now) {
    if (!lasts) {
      lasted_ = {};
      seen_.reset();
      return;
    }
    if (seen_) lasted_ += std::min<std::chrono::nanoseconds>(now - *seen_, 2 * kLook);
    seen_ = now;
  }

  std::chrono::nanoseconds lasted() const { return lasted_; }
  // Returns when to look again; Time::max() if the condition does not last.
  Time next() const { return seen_ ? *seen_ + kLook : Time::max(); }

 private:
  std::chrono::nanoseconds lasted_{0};
  std::optional<Time> seen_;  // the last look, if the condition lasted
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_WITNESSED_TIME_H_
