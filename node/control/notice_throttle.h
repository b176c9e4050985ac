// Lets the first few of several similar notices through and counts the rest: whoever can cause one
// can cause thousands.
//
// Thread-compatible. Time is passed in.
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

  // Whether another one may be given now.
  bool Admit(Time now);
  // How many were held back in an interval that is over; each is counted once.
  int64_t TakeHeldBack(Time now);

 private:
  const int64_t most_;
  const std::chrono::nanoseconds interval_;
  Time begin_;
  int64_t count_ = 0;  // of the interval that began then
  int64_t held_back_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_NOTICE_THROTTLE_H_
