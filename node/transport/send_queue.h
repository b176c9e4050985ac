// Messages for one peer: they wait for the peer's credit, then leave in chunks.
//
// An offered message that has no credit is announced to the peer, which grants or declines it.
//
// Messages leave one after the other, in the order in which they had been both queued and granted a
// credit; one without credit holds up no other. One whose credit came in turn leaves in sixteenths:
// its receiver grants further credits by its progress, and sees that only in whole chunks. A
// message that has left is kept until the peer acknowledges it; acknowledgements come in the order
// in which messages left. What was not acknowledged when its connection broke leaves again on the
// next one.
//
// Thread-compatible: its edge's lock guards it.
#ifndef GRAPEVINE_NODE_TRANSPORT_SEND_QUEUE_H_
#define GRAPEVINE_NODE_TRANSPORT_SEND_QUEUE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "node/transport/message_memory.h"
#include "node/transport/resume_point.h"

namespace grapevine {

// What a peer is told beside messages.
using Notice = std::variant<Offer, Withdrawn>;

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

  // ResourceExhausted beyond Transport::kMaxQueued messages that are not received,
  // AlreadyExists for a tag of one of them.
  absl::Status Admits(Tag tag) const;
  // Queues a message that the queue admits.
  void Push(Tag tag, Outgoing message);

  // The peer's credit for one message. An error is the peer's violation, here and below.
  absl::Status Grant(Tag tag, Credit credit);
  // The peer does not want an offered message, which ends with its receipt.
  absl::Status Decline(Tag tag);
  // The peer wants a credit back. If no message has used it, a Withdrawn says so.
  absl::Status Withdraw(Tag tag);

  // What the peer is to be told, oldest first. Goes before the next piece: the order among notices
  // counts, and a message whose post was withdrawn leaves only with a later credit.
  std::optional<Notice> NextNotice();

  // The next piece, in order; nullopt when nothing has credit, or the message whose turn it is has
  // no further piece ready.
  std::optional<Piece> Next();

  // The peer has received this many messages, of all that it was ever sent.
  absl::Status Acknowledge(uint64_t received);

  // A new connection begins, whose receiver says this of the last one: ends what has been received
  // or declined, and takes everything else up from there.
  absl::Status Resume(const ResumePoint& point);

  // No message waits or is being sent, and the peer has acknowledged all that have left.
  bool empty() const { return waiting_.empty() && ready_.empty() && unacknowledged_.empty(); }
  // Some piece could leave.
  bool ready() const { return !ready_.empty() && NextSize() >= 0; }
  void Clear();

 private:
  struct Message {
    Tag tag;
    Outgoing memory;
    Credit credit = Credit::kAtOnce;
    int64_t done = 0;    // bytes
    uint64_t offer = 0;  // its number, once it was announced
    // On some connection: from then on its bytes may leave, and it cannot be declined.
    bool granted = false;
  };

  int64_t MostOf(const Message& message) const;
  // Bytes of the first message's next piece; negative when they are not ready yet.
  int64_t NextSize() const;
  absl::Status CheckReceived(uint64_t received) const;
  // The messages of which the peer has been sent something and lacks something, as they left.
  std::vector<const Message*> Unfinished(uint64_t received) const;
  absl::Status CheckPartial(const ResumePoint& point) const;
  absl::Status CheckOffers(const ResumePoint& point) const;
  void TakeBack(const ResumePoint& point);
  void OfferAgain(const ResumePoint& point);

  int64_t chunk_bytes_;
  std::map<Tag, Message> waiting_;  // without credit
  std::map<Tag, Credit> credits_;   // without message
  // Offers of waiting messages, and credits that were returned. Bounded as those are: a peer can
  // grant a tag anew only when it has been told that the last credit is returned.
  std::deque<Notice> notices_;
  std::deque<Message> ready_;
  std::deque<Message> unacknowledged_;  // all its pieces were taken
  uint64_t acknowledged_ = 0;           // messages
  uint64_t offers_ = 0;                 // announced
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_SEND_QUEUE_H_
