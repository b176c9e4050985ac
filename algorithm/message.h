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

// Names a message from one node to another within a run, while it is in flight. Sender and receiver
// agree on tags without communicating: tags follow from the algorithm. To all other code a tag is
// opaque: drivers compare it, print it, and find its owner by the channel; only the owner
// interprets the rest.
struct Tag {
  uint16_t channel = 0;  // identifies a nested machine (a collective inside an algorithm)
  int64_t index = 0;     // number of a round or of a sum
  uint32_t step = 0;

  friend auto operator<=>(const Tag&, const Tag&) = default;
};

// Returns the name of a message in errors: "channel 0, index 7, step 2".
std::string Describe(const Tag& tag);

// The content of a message, at its sender or its receiver: a part of a vector, as its fp32 elements
// are in memory (little-endian). Only owners of vectors look inside: data paths, and the
// simulator's stores. To all other code it is a number of bytes, so that another encoding is one
// more alternative here and one more case in each owner.
using Payload = std::variant<Part>;

// Returns the bytes of the message; for a posted buffer, its capacity.
int64_t BytesOf(const Payload& payload);

// The algorithm's own numbers, which drivers carry along with a message.
struct Note {
  double weight = 1;  // finite
  int64_t clock = 0;

  friend bool operator==(const Note&, const Note&) = default;
};

// The number that a node's host gives to a send; 0 is no send. Ascending, never reused.
struct SendId {
  uint64_t id = 0;

  friend auto operator<=>(SendId, SendId) = default;
};

// When the sender of a posted message gets its credit.
enum class Credit {
  kAtOnce,
  // As soon as the message disturbs no messages that were posted in turn for earlier rounds
  // (CreditOrder).
  kInTurn,
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_MESSAGE_H_
