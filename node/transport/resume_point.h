// Where the messages of one direction go on after their connection broke: what the receiver has of
// them, and knows.
//
// The receiver says it when a connection is made. Whatever it does not name was lost with the last
// one: a sender has no credit but for the message that `partial` names, and announces every other
// offer again. Plain values; all zero on the first connection.
#ifndef GRAPEVINE_NODE_TRANSPORT_RESUME_POINT_H_
#define GRAPEVINE_NODE_TRANSPORT_RESUME_POINT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "algorithm/message.h"

namespace grapevine {

struct ResumePoint {
  // Messages that are complete, of all that were ever sent in this direction.
  uint64_t received = 0;
  // The one after them, where some of it has arrived: how many bytes (0: none), and its tag.
  int64_t partial_bytes = 0;
  Tag partial = {};
  // Offers heard, of all; and the numbers, from 1, of those that wait for an answer or for the
  // message that they announced. The others have ended: the message has come, or was declined.
  uint64_t offers = 0;
  std::vector<uint64_t> open_offers = {};
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_RESUME_POINT_H_
