// What a real link does to a message beside carrying its bytes.
#ifndef GRAPEVINE_SIM_NETWORK_MESSAGE_EFFECT_H_
#define GRAPEVINE_SIM_NETWORK_MESSAGE_EFFECT_H_

#include <cstdint>
#include <limits>

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
  // Since the last byte of the messages before it from `from` to `to` left; 0 while
  // one is under way, kNeverUsed for the first.
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

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_MESSAGE_EFFECT_H_
