// The peers for which a node has waited, and how long, in bounded memory.
//
// Thread-compatible.
#ifndef GRAPEVINE_RUN_RECORDS_AWAITED_PEERS_H_
#define GRAPEVINE_RUN_RECORDS_AWAITED_PEERS_H_

#include <chrono>
#include <cstddef>
#include <vector>

#include "base/ids.h"

namespace grapevine {

// The waits for at most `most` peers, each exact. Beyond that, a new peer replaces the one with the
// shortest wait and inherits its time (the Space-Saving sketch of Metwally, Agrawal and El Abbadi
// 2005).
class AwaitedPeers {
 public:
  // The default limit, more neighbours than a node has in any graph that is meant to be sparse.
  static constexpr size_t kMost = 64;

  struct Wait {
    Rank peer = 0;
    std::chrono::nanoseconds time{};
  };

  AwaitedPeers() = default;
  explicit AwaitedPeers(size_t most) : most_(most) {}

  // Adds `time` to the wait for `peer`. Ignores a time that is not positive. Sums saturate at the
  // largest value.
  void Add(Rank peer, std::chrono::nanoseconds time);
  // Returns all waits, longest first; among equals, the lower rank first.
  std::vector<Wait> Longest() const;

 private:
  size_t most_ = kMost;
  std::vector<Wait> waits_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_AWAITED_PEERS_H_
