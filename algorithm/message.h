// A message, to those who send, carry and receive it: what names it, what it carries, what
// travels beside that, and when it may come.
#ifndef GRAPEVINE_ALGORITHM_MESSAGE_H_
#define GRAPEVINE_ALGORITHM_MESSAGE_H_

#include <compare>
#include <cstdint>
#include <string>
#include <variant>

#include "kernels/vector/vector_handle.h"

namespace grapevine {

// Names a message from one node to another within a run, while it is on its way. Sender
// and receiver agree on tags without talking: they follow from the algorithm. To all others
// a tag is opaque: drivers compare it, print it, and tell by its channel whose message it
// is; what the rest means is its owner's affair.
struct Tag {
  uint16_t channel = 0;  // a nested machine (a collective inside an algorithm)
  int64_t index = 0;     // of a round, of a sum
  uint32_t step = 0;

  friend auto operator<=>(const Tag&, const Tag&) = default;
};

// "channel 0, index 7, step 2": how messages are named in errors.
std::string Describe(const Tag& tag);

// What a message carries, at its sender, or where that arrives: today a part of a vector,
// its fp32 elements as they are in memory (little-endian). Those who keep vectors look
// inside: data paths, and the simulator's stores. To all others it is so many bytes, so that
// another encoding is an alternative here and a case there.
using Payload = std::variant<Part>;

// Bytes of the message; of a place, the most that it holds.
int64_t BytesOf(const Payload& payload);

// An algorithm's own numbers, which travel beside a message: drivers carry them.
struct Note {
  double weight = 1;  // finite
  int64_t clock = 0;

  friend bool operator==(const Note&, const Note&) = default;
};

// One send of a node, as its host calls it; 0 is none. Ascending, never used again.
struct SendId {
  uint64_t id = 0;

  friend auto operator<=>(SendId, SendId) = default;
};

// When a posted message's sender hears of its place.
enum class Credit {
  kAtOnce,
  // As soon as the message disturbs none of those that were posted in turn for earlier
  // rounds (credit_order.h).
  kInTurn,
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_MESSAGE_H_
