// What one peer may send: the buffers posted for it, and how far each is filled.
//
// Every chunk is checked against the ledger before a byte of it is written, so
// that a peer can only ever fill what was posted, once, from front to back.
//
// Thread-compatible: its edge's lock guards it. The bytes are copied outside that lock; a Landing
// keeps their memory alive meanwhile.
#ifndef GRAPEVINE_NODE_TRANSPORT_RECEIVE_LEDGER_H_
#define GRAPEVINE_NODE_TRANSPORT_RECEIVE_LEDGER_H_

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "node/transport/message_memory.h"

namespace grapevine {

// Where the bytes of an accepted chunk go.
struct Landing {
  std::shared_ptr<void> owner;
  std::byte* into = nullptr;
  uint32_t crc32c = 0;  // of the message's bytes before this chunk
  Round round = -1;     // for which the message was posted; none: -1
  // If set, to be called once the chunk's bytes are in place.
  Incoming::Landed landed;
};

class ReceiveLedger {
 public:
  // Expects one message with `tag` into `buffer`. ResourceExhausted beyond
  // Transport::kMaxQueued posts, AlreadyExists for a tag that is still open.
  absl::Status Post(Tag tag, Incoming buffer);

  // Checks a chunk that is about to be copied; an error is the peer's violation of the protocol,
  // phrased to follow "rank 3 ".
  absl::StatusOr<Landing> Accept(const ChunkHeader& chunk) const;

  // Records that an accepted chunk was copied and that the message's checksum is now `crc32c`. True
  // when the message is complete; its post is then closed.
  absl::StatusOr<bool> Landed(const ChunkHeader& chunk, uint32_t crc32c);

  bool empty() const { return open_.empty(); }
  // The open tags, in order.
  std::vector<Tag> Open() const;
  void Clear() { open_.clear(); }

 private:
  struct OpenPost {
    Incoming memory;
    int64_t filled = 0;
    int64_t total = 0;  // of the message, once some of it has arrived
    uint32_t crc32c = 0;
  };
  std::map<Tag, OpenPost> open_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_RECEIVE_LEDGER_H_
