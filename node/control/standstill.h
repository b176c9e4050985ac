// Notices that this process itself stood still: it was stopped, its host was frozen or asleep, or
// too busy. Messages of the others may then lie unread, and the others may have stood still, too,
// so that their silence proves nothing: a judge of silence starts all deadlines again.
//
// Thread-compatible. The caller passes the time in, of a clock that goes on while the machine is
// suspended (TimeSinceBoot).
#ifndef GRAPEVINE_NODE_CONTROL_STANDSTILL_H_
#define GRAPEVINE_NODE_CONTROL_STANDSTILL_H_

#include <algorithm>
#include <chrono>

#include "node/control/control_protocol.h"

namespace grapevine {

class Standstill {
 public:
  // Looks are a fraction of `bound` apart: if `bound` or more lies between two, nothing was done.
  Standstill(std::chrono::nanoseconds bound, SteadyTime now) : bound_(bound), last_look_(now) {}

  // Returns how long nothing was done before this look; 0 if it comes in time.
  std::chrono::nanoseconds Look(SteadyTime now) {
    const std::chrono::nanoseconds gap = now - last_look_;
    last_look_ = now;
    if (gap < bound_) return std::chrono::nanoseconds(0);
    awoke_ = now;
    return gap;
  }
  SteadyTime last_look() const { return last_look_; }
  // Returns whether a message heard at that time was sent after this process went on, and was not
  // merely read then.
  bool IsNews(SteadyTime heard) const { return heard >= awoke_ + std::min(kReading, bound_ / 2); }

 private:
  // The time in which everything is read that arrived while nothing was done.
  static constexpr std::chrono::nanoseconds kReading = std::chrono::seconds(1);

  const std::chrono::nanoseconds bound_;
  SteadyTime last_look_;
  SteadyTime awoke_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_STANDSTILL_H_
