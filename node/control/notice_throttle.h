// Lets the first few of several similar notices through and counts the rest: a caller that can
// cause one can cause thousands.
//
// Thread-compatible. The caller passes the time in.
#ifndef GRAPEVINE_NODE_CONTROL_NOTICE_THROTTLE_H_
#define GRAPEVINE_NODE_CONTROL_NOTICE_THROTTLE_H_

#include <chrono>
#include <cstdint>

namespace grapevine {

class NoticeThrottle {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // At most `most` notices in an interval, which begins with the first of them.
  NoticeThrottle(int64_t most, std::chrono::nanoseconds interval)
      : most_(most), interval_(interval) {}

  // Returns whether another notice may be given now.
  bool Admit(Time now);
  // Returns how many notices were held back in an interval that is over; counts each once.
  int64_t TakeHeldBack(Time now);

 private:
  const int64_t most_;
  const std::chrono::nanoseconds interval_;
  Time begin_;
  int64_t count_ = 0;  // notices in the interval from begin_
  int64_t held_back_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_NOTICE_THROTTLE_H_
