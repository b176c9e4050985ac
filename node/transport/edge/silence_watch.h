// Tells a peer that has stopped from one that is slow: whether anything was
// heard from it within the time-out.
//
// Time passes in ticks of this node's own clock, so that a node that was itself
// stopped does not blame its peers on waking up.
//
// Thread-safe: Heard from the stream's thread, the rest from the monitor's.
#ifndef GRAPEVINE_NODE_TRANSPORT_EDGE_SILENCE_WATCH_H_
#define GRAPEVINE_NODE_TRANSPORT_EDGE_SILENCE_WATCH_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "base/ids.h"

namespace grapevine {

class SilenceWatch {
 public:
  // Something arrived.
  void Heard() { quiet_ms_ = 0; }
  // The peer said that it is in `round`, or sent what is posted for it; -1 says nothing.
  void HeardRound(Round round) { round_ = std::max(round_.load(), round); }

  // `tick` has passed; returns the silence so far.
  std::chrono::milliseconds Tick(std::chrono::milliseconds tick) {
    return std::chrono::milliseconds(quiet_ms_ += tick.count());
  }

  // "last heard 4.1 s ago in round 812".
  std::string Describe() const;

 private:
  static constexpr Round kNoRound = -1;
  std::atomic<int64_t> quiet_ms_ = 0;
  std::atomic<Round> round_ = kNoRound;
};

// The failure of a peer that was silent for `timeout`.
absl::Status SilentPeer(Rank peer, const std::string& address, const SilenceWatch& watch,
                        std::chrono::milliseconds timeout);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_SILENCE_WATCH_H_
