// CRC-32C of outgoing messages, computed once however many neighbours get them, and just before the
// bytes go to the socket, while they are in cache.
//
// Thread-safe.
#ifndef GRAPEVINE_NODE_TRANSPORT_EDGE_MESSAGE_CHECKSUM_H_
#define GRAPEVINE_NODE_TRANSPORT_EDGE_MESSAGE_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "algorithm/message.h"
#include "node/transport/message_memory.h"
#include "system/mutex.h"

namespace grapevine {

// The checksum of one message, as far as it was needed. It reads the message's memory and does not
// keep it alive.
class MessageChecksum {
 public:
  explicit MessageChecksum(const SharedBytes& message) : data_(message.begin) {}

  // Reads on until `end` bytes are included; returns the checksum of all bytes read so far.
  uint32_t Through(int64_t end);

 private:
  const std::byte* data_;
  Mutex mutex_;
  int64_t done_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t crc32c_ ABSL_GUARDED_BY(mutex_) = 0;
};

// The CRC-32C of a message whose bytes have `crc32c`, with the note behind them, in little-endian
// order; a default note changes nothing.
uint32_t WithNote(uint32_t crc32c, const Note& note);

// Finds the checksum of bytes that are being sent to several neighbours. A checksum is valid while
// it is held: nobody writes the bytes meanwhile.
class ChecksumsInFlight {
 public:
  std::shared_ptr<MessageChecksum> Of(const SharedBytes& message);

 private:
  using Key = std::tuple<const std::byte*, int64_t>;  // begin, size
  Mutex mutex_;
  std::map<Key, std::weak_ptr<MessageChecksum>> checksums_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_MESSAGE_CHECKSUM_H_
