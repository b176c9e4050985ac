// A message at either end of a transport, which may still be moving to or from a device while it is
// in flight: its memory, how much of it is ready, and its chunks. Plain values, except Watermark.
#ifndef GRAPEVINE_NODE_TRANSPORT_MESSAGE_MEMORY_H_
#define GRAPEVINE_NODE_TRANSPORT_MESSAGE_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "algorithm/message.h"
#include "base/ids.h"
#include "kernels/passes/streamed_norm.h"
#include "kernels/vector/shared_vector.h"
#include "system/mutex.h"

namespace grapevine {

// How much of a message is ready, while the rest is still being written. Thread-safe.
class Watermark {
 public:
  // The bytes below it may be read and do not change.
  int64_t level() const { return level_.load(std::memory_order_acquire); }
  // Raises the level, which never falls, and then calls all listeners on this thread.
  void Raise(int64_t level);
  // `risen` is called after every rise from now on, and must not block.
  void OnRise(std::function<void()> risen);

 private:
  std::atomic<int64_t> level_ = 0;
  Mutex mutex_;
  std::vector<std::function<void()>> listeners_ ABSL_GUARDED_BY(mutex_);
};

// A run of bytes, which keeps its memory alive.
struct SharedBytes {
  SharedBytes() = default;
  SharedBytes(std::shared_ptr<void> holder, std::byte* data, int64_t bytes)
      : owner(std::move(holder)), begin(data), size(bytes) {}
  // Elements, as they are in memory.
  SharedBytes(SharedSlice slice)  // NOLINT: a slice is bytes
      : begin(reinterpret_cast<std::byte*>(slice.begin())), size(slice.bytes()) {
    owner = std::move(slice.owner);
  }

  // Bytes [offset, offset + length) of these.
  SharedBytes Within(int64_t offset, int64_t length) const {
    return {owner, begin + offset, length};
  }

  std::shared_ptr<void> owner;
  std::byte* begin = nullptr;
  int64_t size = 0;
};

// Keeps the memory of a message, and reports how its send has ended once its last owner lets go of
// it. Held by one edge, under its lock.
class Receipt {
 public:
  virtual ~Receipt() = default;

  // The receiver has declined the message, of which nothing has left.
  void Decline() { declined_ = true; }
  bool declined() const { return declined_; }

 private:
  bool declined_ = false;
};

// A message to be sent.
struct Outgoing {
  // All of it is ready.
  Outgoing(SharedBytes whole) : bytes(std::move(whole)) {}  // NOLINT: bytes are a message
  Outgoing(SharedSlice whole) : bytes(std::move(whole)) {}  // NOLINT
  Outgoing(SharedBytes growing, std::shared_ptr<Watermark> level)
      : bytes(std::move(growing)), written(std::move(level)) {}

  // The bytes that may be sent.
  int64_t ready() const { return written == nullptr ? bytes.size : written->level(); }

  SharedBytes bytes;
  std::shared_ptr<Watermark> written;  // may be null
  Note note;                           // travels with them
  // Whether the receiver is told of it where it has posted no buffer for it.
  bool offered = false;
  std::shared_ptr<Receipt> receipt;  // released once the receiver has it, or declined it
};

// Where a message is to arrive.
struct Incoming {
  // Called on the transport's thread when bytes [offset, offset + size) are in place:
  // in order, and all of them before OnReceived. Must not block.
  using Landed = std::function<void(int64_t offset, int64_t size)>;

  Incoming(SharedBytes buffer) : Incoming(std::move(buffer), {}) {}  // NOLINT: bytes are a buffer
  Incoming(SharedSlice buffer) : Incoming(SharedBytes(std::move(buffer))) {}  // NOLINT
  Incoming(SharedBytes buffer, Landed callback)
      : into(std::move(buffer)), least(into.size), landed(std::move(callback)) {}

  SharedBytes into;
  // The size of the smallest message that fits; into.size where there is only one size.
  int64_t least;
  Landed landed;  // may be empty
  // Takes in the bytes while they are copied, all of them before OnReceived; may be null.
  std::shared_ptr<StreamedNorm> norm;
  Round round = -1;  // of this node, for which it was posted; none: -1
  Credit credit = Credit::kAtOnce;
};

// A chunk: a run of bytes of one message, as it travels between two transports. Offsets and
// sizes are in bytes.
struct ChunkHeader {
  Tag tag;
  int64_t offset = 0;  // of this chunk in its message
  int64_t size = 0;    // of this chunk
  int64_t total = 0;   // of the message
  // In the last chunk: the CRC-32C of the whole message, and its note.
  std::optional<uint32_t> crc32c;
  Note note = {};

  bool last() const { return offset + size == total; }
};

// What a sender says of a message that it offers: it is ready, and waits for a buffer.
struct Offer {
  Tag tag;
  int64_t bytes = 0;
  Note note = {};
};

// What a sender says of a credit that was withdrawn before it was used: no message fills its post.
struct Withdrawn {
  Tag tag;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_MESSAGE_MEMORY_H_
