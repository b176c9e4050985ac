// The memory of a message at either end of a transport, which may be in the middle
// of moving to or from a device while the message travels. Plain values.
#ifndef GRAPEVINE_NODE_TRANSPORT_MESSAGE_MEMORY_H_
#define GRAPEVINE_NODE_TRANSPORT_MESSAGE_MEMORY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "algorithm/event.h"
#include "kernels/vector/aligned_buffer.h"
#include "node/transport/watermark.h"

namespace grapevine {

// What is sent.
struct Outgoing {
  // All of it is there.
  Outgoing(SharedSlice whole) : slice(std::move(whole)) {}  // NOLINT: a slice is a message
  Outgoing(SharedSlice growing, std::shared_ptr<Watermark> level)
      : slice(std::move(growing)), written(std::move(level)) {}

  // The elements that may be sent.
  int64_t ready() const { return written == nullptr ? slice.size : written->level(); }

  SharedSlice slice;
  std::shared_ptr<Watermark> written;  // may be null
};

// Where a message shall arrive.
struct Incoming {
  // Called on the transport's thread when bytes [offset, offset + size) are in place:
  // in order, and all of them before OnReceived. Must not block.
  using Landed = std::function<void(int64_t offset, int64_t size)>;

  Incoming(SharedSlice place) : into(std::move(place)) {}  // NOLINT: a slice is a place
  Incoming(SharedSlice place, Landed callback)
      : into(std::move(place)), landed(std::move(callback)) {}

  SharedSlice into;
  Landed landed;    // may be empty
  Round round = 0;  // of this node, for which it was posted
  Credit credit = Credit::kAtOnce;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_MESSAGE_MEMORY_H_
