// What a real link does to a message beside carrying its bytes.
#ifndef GRAPEVINE_SIM_MESSAGE_EFFECT_H_
#define GRAPEVINE_SIM_MESSAGE_EFFECT_H_

#include <cstdint>
#include <limits>

#include "algorithm/event.h"
#include "sim/nanoseconds.h"
#include "topology/topology.h"

namespace grapevine {

struct MessageEffect {
  double bytes = 0;  // on the wire, retransmissions included
  double max_rate = std::numeric_limits<double>::infinity();  // bytes per nanosecond
  Nanoseconds delay = 0;  // beyond the latency, before it arrives
};

// Immutable: a pure function of the message, so that effects do not depend on
// the order of events.
class MessageEffects {
 public:
  virtual ~MessageEffects() = default;
  virtual MessageEffect Of(Rank from, Rank to, const Tag& tag, int64_t bytes,
                           Nanoseconds latency) const = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_MESSAGE_EFFECT_H_
