// What can happen to an algorithm.
#ifndef GRAPEVINE_ALGORITHM_EVENT_H_
#define GRAPEVINE_ALGORITHM_EVENT_H_

#include <compare>
#include <cstdint>
#include <variant>

#include "base/ids.h"
#include "kernels/vector/vector_handle.h"

namespace grapevine {

// Names a message within a run. A receiver and a sender agree on tags without
// talking: they follow from the algorithm.
struct Tag {
  uint16_t channel = 0;  // a nested machine (a collective inside an algorithm)
  Round round = 0;
  uint32_t step = 0;

  friend auto operator<=>(const Tag&, const Tag&) = default;
};

// When a posted message's sender hears of its place.
enum class Credit {
  kAtOnce,
  // As soon as the message disturbs none of those that were posted in turn for earlier
  // rounds (credit_order.h).
  kInTurn,
};

// The first event, once.
struct Start {};
// A message that was posted has arrived in the part that was given for it.
struct Received {
  Rank from;
  Tag tag;
};
// Of the gradient asked for in `round`, the elements from `from` on are final. The
// last such event has from = 0, and most algorithms ask for no other.
struct GradientReady {
  Round round;
  int64_t from = 0;

  bool whole() const { return from == 0; }
};
// The bytes of a message have left: its part may be written again.
struct Sent {
  Rank to;
  Tag tag;
};
// No round at or past `limit` may begin: the end of the run, which may move
// outwards while it lasts, never inwards past a round that a node may have begun.
struct RoundLimit {
  Round limit;
};

using Event = std::variant<Start, Received, GradientReady, Sent, RoundLimit>;

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_EVENT_H_
