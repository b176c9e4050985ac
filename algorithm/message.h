// A message, for its sender, carrier and receiver: its name, its payload, the note that travels
// with it, and when its credit is granted.
#ifndef GRAPEVINE_ALGORITHM_MESSAGE_H_
#define GRAPEVINE_ALGORITHM_MESSAGE_H_

#include <compare>
#include <cstdint>
#include <string>
#include <variant>

#include "kernels/vector/vector_handle.h"

namespace grapevine {

// Names a message from one node to another within a run, while it is in flight. Sender and
// receiver agree on tags without communicating: they follow from the algorithm. To all others a
// tag is opaque: drivers compare it, print it, and find its owner by the channel; only the
// owner interprets the rest.
struct Tag {
  uint16_t channel = 0;  // a nested machine (a collective inside an algorithm)
  int64_t index = 0;     // of a round, of a sum
  uint32_t step = 0;

  friend auto operator<=>(const Tag&, const Tag&) = default;
};

// "channel 0, index 7, step 2": how messages are named in errors.
std::string Describe(const Tag& tag);

// What a message carries, at its sender or its receiver: today a part of a vector, its fp32
// elements as they are in memory (little-endian). Only owners of vectors look inside: data
// paths, and the simulator's stores. To all others it is a number of bytes, so that another
// encoding is an alternative here and a case there.
using Payload = std::variant<Part>;

// Bytes of the message; of a posted buffer, its capacity.
int64_t BytesOf(const Payload& payload);

// An algorithm's own numbers, which drivers carry along with a message.
struct Note {
  double weight = 1;  // finite
  int64_t clock = 0;

  friend bool operator==(const Note&, const Note&) = default;
};

// A send of a node, as its host numbers it; 0 is none. Ascending, never reused.
struct SendId {
  uint64_t id = 0;

  friend auto operator<=>(SendId, SendId) = default;
};

// When a posted message's sender gets its credit.
enum class Credit {
  kAtOnce,
  // As soon as the message disturbs none that were posted in turn for earlier rounds
  // (CreditOrder).
  kInTurn,
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_MESSAGE_H_
