// How long a node that is usually heard may be silent before it is lost: a failure detector that
// goes by what has been measured, between bounds.
//
// A node is heard at least once a second or so (heartbeats). How late that can be is not known
// beforehand: it depends on the network and on how busy the hosts are. So the limit is some times
// the longest silence of the last minute or so, a high quantile of what is normal (the idea of the
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
  // The longest of so many turns counts. A turn is a silence, or several that together last for
  // `kTurn`: who says more than its heartbeats has no shorter memory for that.
  static constexpr size_t kTurns = 64;
  static constexpr std::chrono::nanoseconds kTurn = std::chrono::seconds(1);
  // So many silences say something.
  static constexpr size_t kEnough = 8;
  // The limit, in times that longest one.
  static constexpr int kTolerance = 4;

  // The node is heard, for the first time, or after a time in which it could not have been.
  void Begin(SteadyTime now) { last_heard_ = now; }
  // The node is heard.
  void End(SteadyTime now) {
    const std::chrono::nanoseconds silence = now - last_heard_;
    last_heard_ = now;
    ++silences_;
    if (lasted_ >= kTurn) {
      turn_ = (turn_ + 1) % kTurns;
      longest_[turn_] = lasted_ = {};
    }
    lasted_ += silence;
    longest_[turn_] = std::max(longest_[turn_], silence);
  }
  // Nobody listened for so long, until `now`. The node may have stood still as well, and come back
  // as much later, or `most` later, as that has lasted.
  void Postpone(std::chrono::nanoseconds gap, std::chrono::nanoseconds most, SteadyTime now) {
    last_heard_ += gap;
    excused_until_ = std::max(excused_until_, now + std::min(gap, most));
  }

  SteadyTime last_heard() const { return last_heard_; }
  // When it is lost, if it says nothing until then and its silence may last for `limit`.
  SteadyTime Deadline(std::chrono::nanoseconds limit) const {
    return std::max(last_heard_ + limit, excused_until_);
  }
  std::chrono::nanoseconds Limit(std::chrono::nanoseconds least,
                                 std::chrono::nanoseconds most) const {
    if (silences_ < kEnough) return most;
    return std::clamp(kTolerance * *std::ranges::max_element(longest_), std::min(least, most),
                      most);
  }

 private:
  SteadyTime last_heard_;
  SteadyTime excused_until_;
  size_t silences_ = 0;
  std::array<std::chrono::nanoseconds, kTurns> longest_ = {};  // of each turn
  size_t turn_ = 0;                                            // the present one
  std::chrono::nanoseconds lasted_{0};                         // so far
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_SILENCE_H_
