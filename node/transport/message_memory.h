// A message at either end of a transport: its memory, the part of it that is ready, and its chunks.
// A message may still be moving to or from a device while it is in flight.
//
// Plain values, except Watermark and Receipt.
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

// A watermark says how much of a message is ready while the rest is still being written.
// Thread-safe.
class Watermark {
 public:
  // Returns the number of bytes that may be read and no longer change.
  int64_t level() const { return level_.load(std::memory_order_acquire); }
  // Raises the level, which never falls, and then calls all listeners on this thread.
  void Raise(int64_t level);
  // Calls `risen` after every rise from now on; `risen` must not block.
  void OnRise(std::function<void()> risen);

 private:
  std::atomic<int64_t> level_ = 0;
  Mutex mutex_;
  std::vector<std::function<void()>> listeners_ ABSL_GUARDED_BY(mutex_);
};

// A run of bytes that keeps its memory alive.
struct SharedBytes {
  SharedBytes() = default;
  SharedBytes(std::shared_ptr<void> holder, std::byte* data, int64_t bytes)
      : owner(std::move(holder)), begin(data), size(bytes) {}
  // The bytes of the slice's elements, as they are in memory.
  SharedBytes(SharedSlice slice)  // NOLINT: a slice is bytes
      : begin(reinterpret_cast<std::byte*>(slice.begin())), size(slice.bytes()) {
    owner = std::move(slice.owner);
  }

  // Returns bytes [offset, offset + length) of this run.
  SharedBytes Within(int64_t offset, int64_t length) const {
    return {owner, begin + offset, length};
  }

  std::shared_ptr<void> owner;
  std::byte* begin = nullptr;
  int64_t size = 0;
};

// A receipt keeps the memory of a message, and reports how its send has ended once the last owner
// of the receipt lets go of it. One edge holds it, under the edge's lock.
class Receipt {
 public:
  virtual ~Receipt() = default;

  // Records that the receiver has declined the message. Nothing of it may have left.
  void Decline() { declined_ = true; }
  bool declined() const { return declined_; }

 private:
  bool declined_ = false;
};

// A message to be sent.
struct Outgoing {
  // A message that is ready as a whole.
  Outgoing(SharedBytes whole) : bytes(std::move(whole)) {}  // NOLINT: bytes are a message
  Outgoing(SharedSlice whole) : bytes(std::move(whole)) {}  // NOLINT
  Outgoing(SharedBytes growing, std::shared_ptr<Watermark> level)
      : bytes(std::move(growing)), written(std::move(level)) {}

  // Returns the number of bytes that may be sent.
  int64_t ready() const { return written == nullptr ? bytes.size : written->level(); }

  SharedBytes bytes;
  std::shared_ptr<Watermark> written;  // may be null
  Note note;                           // travels with the bytes
  // Whether the message is announced to a receiver that has posted no buffer for it.
  bool offered = false;
  std::shared_ptr<Receipt> receipt;  // released once the receiver has the message or declined it
};

// A buffer in which a message is to arrive.
struct Incoming {
  // Called on the transport's thread when bytes [offset, offset + size) are in place. The calls
  // come in order, all of them before OnReceived. Must not block.
  using Landed = std::function<void(int64_t offset, int64_t size)>;

  Incoming(SharedBytes buffer) : Incoming(std::move(buffer), {}) {}  // NOLINT: bytes are a buffer
  Incoming(SharedSlice buffer) : Incoming(SharedBytes(std::move(buffer))) {}  // NOLINT
  Incoming(SharedBytes buffer, Landed callback)
      : into(std::move(buffer)), least(into.size), landed(std::move(callback)) {}

  SharedBytes into;
  // Size of the smallest message that is accepted; into.size if only one size is.
  int64_t least;
  Landed landed;  // may be empty
  // Is fed the bytes while they are copied, all of them before OnReceived; may be null.
  std::shared_ptr<StreamedNorm> norm;
  Round round = -1;  // this node's round for which the buffer was posted; -1 if none
  Credit credit = Credit::kAtOnce;
};

// Header of a chunk: a run of bytes of one message, as it travels between two transports. Offsets
// and sizes are in bytes.
struct ChunkHeader {
  Tag tag;
  int64_t offset = 0;  // of this chunk in its message
  int64_t size = 0;    // of this chunk
  int64_t total = 0;   // size of the message
  // The last chunk carries the CRC-32C of the whole message, and the message's note.
  std::optional<uint32_t> crc32c;
  Note note = {};

  bool last() const { return offset + size == total; }
};

// A sender's announcement that a message is ready and waits for a buffer.
struct Offer {
  Tag tag;
  int64_t bytes = 0;
  Note note = {};
};

// A sender's confirmation that a credit was withdrawn before it was used: no message fills the post
// of that credit.
struct Withdrawn {
  Tag tag;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_MESSAGE_MEMORY_H_
