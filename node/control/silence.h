// Determines how long a node that is usually heard may be silent before it is lost: a failure
// detector that goes by what has been measured, between bounds.
//
// A node is heard at least about once a second (heartbeats). How late a heartbeat can be is not
// known beforehand: it depends on the network and on how busy the hosts are. Therefore the limit is
// a multiple of the longest silence of about the last minute, a high quantile of what is normal
// (the idea of the phi-accrual detector, Hayashibara et al. 2004, without its assumption of a
// distribution). It is never below the lower bound, which says what pauses must be tolerated, nor
// above the upper one. Until enough has been measured, it is the upper bound.
//
// Thread-compatible. The caller passes the time in.
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
  // The number of turns whose longest silence counts. A turn is one silence, or several that
  // together last for `kTurn`: a node that says more than its heartbeats has no shorter memory
  // because of that.
  static constexpr size_t kTurns = 64;
  static constexpr std::chrono::nanoseconds kTurn = std::chrono::seconds(1);
  // The number of silences that suffice for a limit.
  static constexpr size_t kEnough = 8;
  // The limit as a multiple of the longest silence.
  static constexpr int kTolerance = 4;

  // Reports that the node is heard, for the first time, or after a time in which it could not be
  // heard.
  void Begin(SteadyTime now) { last_heard_ = now; }
  // Reports that the node is heard.
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
  // Reports that nobody listened for `gap`, until `now`. The node may have stood still as well, and
  // may come back later by as much, but by no more than `most`.
  void Postpone(std::chrono::nanoseconds gap, std::chrono::nanoseconds most, SteadyTime now) {
    last_heard_ += gap;
    excused_until_ = std::max(excused_until_, now + std::min(gap, most));
  }

  SteadyTime last_heard() const { return last_heard_; }
  // Returns when the node is lost, if it says nothing until then and its silence may last for
  // `limit`.
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
  std::array<std::chrono::nanoseconds, kTurns> longest_ = {};  // longest silence of each turn
  size_t turn_ = 0;                                            // the present turn
  std::chrono::nanoseconds lasted_{0};  // duration of the present turn so far
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_SILENCE_H_
