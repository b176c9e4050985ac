// Messages for one peer: they wait for the peer's credit, then leave in chunks.
//
// Messages leave one after the other, in the order in which they had been both queued and granted a
// credit; one without credit holds up no other. One whose credit came in turn leaves in sixteenths:
// its receiver grants further credits by its progress, and sees that only in whole chunks.
//
// Thread-compatible: its edge's lock guards it.
#ifndef GRAPEVINE_NODE_TRANSPORT_SEND_QUEUE_H_
#define GRAPEVINE_NODE_TRANSPORT_SEND_QUEUE_H_

#include <deque>
#include <map>
#include <optional>

#include "absl/status/status.h"
#include "node/transport/message_memory.h"

namespace grapevine {

// A part of a message, ready to go. Its bytes keep the message's memory alive.
struct Piece {
  ChunkHeader header;  // without checksum
  SharedBytes message;
  SharedBytes data;  // the part of `message` that the header names
};

class SendQueue {
 public:
  // `chunk_bytes`: the most a piece carries.
  explicit SendQueue(int64_t chunk_bytes) : chunk_bytes_(chunk_bytes) {}

  // ResourceExhausted beyond Transport::kMaxQueued messages, AlreadyExists for
  // a tag that has not left yet.
  absl::Status Admits(Tag tag) const;
  // Queues a message that the queue admits.
  void Push(Tag tag, Outgoing message);

  // The peer's credit for one message. An error is the peer's violation.
  absl::Status Grant(Tag tag, Credit credit);

  // The next piece, in order; nullopt when nothing has credit, or the message whose turn it is has
  // no further piece ready.
  std::optional<Piece> Next();

  // No message waits or is being sent.
  bool empty() const { return waiting_.empty() && ready_.empty(); }
  // Some piece could leave.
  bool ready() const { return !ready_.empty() && NextSize() >= 0; }
  void Clear();

 private:
  struct Message {
    Tag tag;
    Outgoing memory;
    Credit credit;
    int64_t done = 0;  // bytes
  };

  int64_t MostOf(const Message& message) const;
  // Bytes of the first message's next piece; negative when they are not ready yet.
  int64_t NextSize() const;

  int64_t chunk_bytes_;
  std::map<Tag, Outgoing> waiting_;  // without credit
  std::map<Tag, Credit> credits_;    // without message
  std::deque<Message> ready_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_SEND_QUEUE_H_
