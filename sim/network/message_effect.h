// What a real link does to a message besides carrying its bytes, and what that depends on.
#ifndef GRAPEVINE_SIM_NETWORK_MESSAGE_EFFECT_H_
#define GRAPEVINE_SIM_NETWORK_MESSAGE_EFFECT_H_

#include <cstdint>
#include <limits>
#include <unordered_map>

#include "algorithm/event.h"
#include "base/ids.h"
#include "sim/nanoseconds.h"

namespace grapevine {

// A message that begins to flow.
struct Transfer {
  Rank from = 0;
  Rank to = 0;
  Tag tag;
  int64_t bytes = 0;
  Nanoseconds latency = 0;  // one way
  // The time since the last byte of earlier messages from `from` to `to` left; 0 while one is still
  // leaving, kNeverUsed for the first.
  Nanoseconds idle = 0;

  static constexpr Nanoseconds kNeverUsed = std::numeric_limits<Nanoseconds>::max();
};

struct MessageEffect {
  double bytes = 0;  // on the wire, retransmissions included
  double max_rate = std::numeric_limits<double>::infinity();  // bytes per nanosecond
  Nanoseconds delay = 0;  // beyond the latency, before it arrives
};

// Immutable: a pure function of the transfer, so that effects do not depend on
// the order of events.
class MessageEffects {
 public:
  virtual ~MessageEffects() = default;
  virtual MessageEffect Of(const Transfer& transfer) const = 0;
};

// When each connection was last used, for slow start after a pause.
// One for each ordered pair of ranks that ever spoke. Thread-compatible.
class Connections {
 public:
  // A message begins to flow; returns Transfer::idle.
  Nanoseconds Begin(Rank from, Rank to, Nanoseconds now);
  // Its last byte has left.
  void End(Rank from, Rank to, Nanoseconds now);

 private:
  struct Connection {
    int64_t under_way = 0;
    Nanoseconds left = 0;  // the last byte of all
  };

  std::unordered_map<uint64_t, Connection> connections_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_MESSAGE_EFFECT_H_
