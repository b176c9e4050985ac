// How long a node that is usually heard may be silent before it is lost: a failure detector that
// goes by what has been measured, between bounds.
//
// A node is heard at least once a second or so (heartbeats). How late that can be is not known
// beforehand: it depends on the network and on how busy the hosts are. So the limit is some times
// the longest of the last silences that ended, a high quantile of what is normal (the idea of the
// phi-accrual detector, Hayashibara et al. 2004, without its assumption of a distribution), and
// never below the lower bound, which says what pauses are to be borne, nor above the upper one.
// Until enough has been measured it is the upper one.
//
// Thread-compatible. Time is passed in.
#ifndef GRAPEVINE_NODE_CONTROL_SILENCE_H_
#define GRAPEVINE_NODE_CONTROL_SILENCE_H_

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "node/control/control_protocol.h"

namespace grapevine {

class Silence {
 public:
  // Of this many silences the longest counts; fewer say nothing.
  static constexpr size_t kMeasured = 64;
  static constexpr size_t kEnough = 8;
  // The limit, in times that longest one.
  static constexpr int kTolerance = 4;

  // The node is heard, for the first time, or after a time in which it could not have been.
  void Begin(SteadyTime now) { last_heard_ = now; }
  // The node is heard.
  void End(SteadyTime now) {
    measured_[next_++ % kMeasured] = now - last_heard_;
    last_heard_ = now;
  }
  // Nobody listened for so long.
  void Postpone(std::chrono::nanoseconds gap) { last_heard_ += gap; }

  SteadyTime last_heard() const { return last_heard_; }
  std::chrono::nanoseconds Limit(std::chrono::nanoseconds least,
                                 std::chrono::nanoseconds most) const {
    if (next_ < kEnough) return most;
    const size_t count = std::min(next_, kMeasured);
    return std::clamp(kTolerance * *std::max_element(measured_.begin(), measured_.begin() + count),
                      std::min(least, most), most);
  }

 private:
  SteadyTime last_heard_;
  std::array<std::chrono::nanoseconds, kMeasured> measured_ = {};
  size_t next_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_SILENCE_H_
