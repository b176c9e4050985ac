// What asynchronous workers and servers say to each other.
//
// A worker has one exchange under way, with all servers alike: it asks each of them, as a rule with
// an update of the server's range, and is answered with that range. It posts for the answers before
// it asks; what it asks with is offered, since servers cannot foresee it.
//
// The note of an update says how many gradients are in it, and at which version of the server's
// weights it was made; the note of an answer, how many gradients have gone into the weights, and
// their version: how many updates.
#ifndef GRAPEVINE_ALGORITHM_SERVER_PUSH_H_
#define GRAPEVINE_ALGORITHM_SERVER_PUSH_H_

#include <cstdint>

#include "algorithm/message.h"

namespace grapevine {

enum class Ask : uint32_t {
  kPush = 1,
  // The worker has come to its limit (RoundLimit): once answered, it begins no step until it has
  // asked again. Only where servers bound the staleness.
  kLastPush,
  // After that, without an update: it goes on.
  kPull,
};

// Of a worker's exchanges, which count from 0.
inline Tag AskTag(int64_t exchange, Ask ask) {
  return {.channel = 0, .index = exchange, .step = static_cast<uint32_t>(ask)};
}
// Whether the tag is that of an ask.
inline bool Asks(const Tag& tag) {
  return tag.step >= static_cast<uint32_t>(Ask::kPush) &&
         tag.step <= static_cast<uint32_t>(Ask::kPull) && tag == AskTag(tag.index, Ask{tag.step});
}
inline Tag AnswerTag(int64_t exchange) { return {.channel = 0, .index = exchange, .step = 0}; }

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_PUSH_H_
