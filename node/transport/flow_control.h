// The credit-based flow of messages over one direction of an edge. SendQueue holds the messages
// that wait at the sender, ReceiveLedger what the receiver has posted and what has become of it,
// and ResumePoint the place where both go on after a broken connection.
//
// Thread-compatible: the edge's lock guards these objects.
#ifndef GRAPEVINE_NODE_TRANSPORT_FLOW_CONTROL_H_
#define GRAPEVINE_NODE_TRANSPORT_FLOW_CONTROL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/message.h"
#include "node/transport/message_memory.h"

namespace grapevine {

// The point at which the messages of one direction go on after their connection broke: what the
// receiver has received and heard.
//
// The receiver states it when a connection is made. Everything that it does not name was lost with
// the last connection: the sender has no credit except for the message that `partial` names, and
// announces every offer again that the receiver has not heard. Plain values; all zero on the first
// connection.
struct ResumePoint {
  // Number of complete messages, of all that were ever sent in this direction.
  uint64_t received = 0;
  // Bytes that have arrived of the message after those, and its tag; 0 bytes if none have.
  int64_t partial_bytes = 0;
  Tag partial = {};
  // Number of offers heard, of all that were ever made in this direction.
  uint64_t offers = 0;
  // Numbers, from 1, of the heard offers that wait for an answer or for the message that they
  // announced. The other offers have ended: the message has come, or was declined.
  std::vector<uint64_t> open_offers = {};
};

// A notice to a peer, sent beside the messages.
using Notice = std::variant<Offer, Withdrawn>;

// A part of a message, ready to go. Its bytes keep the message's memory alive.
struct Piece {
  ChunkHeader header;  // without checksum
  SharedBytes message;
  SharedBytes data;  // the part of `message` that the header names
};

// SendQueue holds the messages for one peer: they wait for the peer's credit, then leave in chunks.
//
// An offered message that has no credit is announced to the peer, which grants or declines it.
//
// Messages leave one after the other, in the order in which they had been both queued and granted a
// credit; a message without credit holds up no other. A message whose credit came in turn leaves in
// sixteenths, because its receiver grants further credits by its progress and sees that only in
// whole chunks. A message that has left is kept until the peer acknowledges it; acknowledgements
// come in the order in which messages left. A message that was not acknowledged when its connection
// broke leaves again on the next one.
class SendQueue {
 public:
  // `chunk_bytes` is the largest number of bytes that a piece carries.
  explicit SendQueue(int64_t chunk_bytes) : chunk_bytes_(chunk_bytes) {}

  // Checks that a message may be queued. Returns ResourceExhausted if Transport::kMaxQueued
  // messages have not been received yet, and AlreadyExists if one of those has this tag.
  absl::Status Admits(Tag tag) const;
  // Queues a message that the queue admits.
  void Push(Tag tag, Outgoing message);

  // Takes the peer's credit for one message. An error, here and below, is the peer's violation.
  absl::Status Grant(Tag tag, Credit credit);
  // Drops an offered message that the peer does not want; its receipt reports the end of the send.
  absl::Status Decline(Tag tag);
  // Takes back a credit that the peer wants returned. Queues a Withdrawn if no message has used it.
  absl::Status Withdraw(Tag tag);

  // Returns the oldest notice to the peer, if any. Notices must go before the next piece and in
  // this order, and a message whose post was withdrawn leaves only with a later credit.
  std::optional<Notice> NextNotice();

  // Returns the next piece, in order; nullopt if no message has credit, or if the message whose
  // turn it is has no further piece ready.
  std::optional<Piece> Next();

  // Records that the peer has received `received` messages, of all that it was ever sent.
  absl::Status Acknowledge(uint64_t received);

  // Begins a new connection, whose receiver states `point` about the last one. Ends the messages
  // that have been received or declined, and takes up everything else from there.
  absl::Status Resume(const ResumePoint& point);

  // Whether no message waits or is being sent, and the peer has acknowledged all that have left.
  bool empty() const { return waiting_.empty() && ready_.empty() && unacknowledged_.empty(); }
  // Whether a piece could leave.
  bool ready() const { return !ready_.empty() && NextSize() >= 0; }
  void Clear();

 private:
  struct Message {
    Tag tag;
    Outgoing memory;
    Credit credit = Credit::kAtOnce;
    int64_t done = 0;    // bytes that have left
    uint64_t offer = 0;  // number of the message's offer; 0 until it was announced
    // Whether some connection has granted the message: from then on its bytes may leave, and it
    // cannot be declined.
    bool granted = false;
  };

  int64_t MostOf(const Message& message) const;
  // Returns the size in bytes of the first message's next piece; negative if it is not ready yet.
  int64_t NextSize() const;
  absl::Status CheckReceived(uint64_t received) const;
  // Returns the messages that have begun or may begin to leave and that the peer does not have as a
  // whole, given that it has received `received` messages; in the order in which they leave.
  std::vector<const Message*> Unfinished(uint64_t received) const;
  absl::Status CheckPartial(const ResumePoint& point) const;
  absl::Status CheckOffers(const ResumePoint& point) const;
  void TakeBack(const ResumePoint& point);
  void OfferAgain(const ResumePoint& point);

  int64_t chunk_bytes_;
  std::map<Tag, Message> waiting_;  // messages without credit
  std::map<Tag, Credit> credits_;   // credits without message
  // Offers of waiting messages, and credits that were returned. As bounded as the messages and the
  // credits: a peer can grant a tag anew only after it has been told that the last credit is
  // returned.
  std::deque<Notice> notices_;
  std::deque<Message> ready_;
  std::deque<Message> unacknowledged_;  // messages whose pieces have all left
  uint64_t acknowledged_ = 0;           // number of messages acknowledged
  uint64_t offers_ = 0;                 // number of offers announced
};

// The place where the bytes of an accepted chunk go. The bytes are copied outside the edge's lock;
// the landing keeps their memory alive meanwhile.
struct Landing {
  std::shared_ptr<void> owner;
  std::byte* into = nullptr;
  uint32_t crc32c = 0;  // of the message's bytes before this chunk
  Round round = -1;     // for which the message was posted; -1 if none
  // If set, is fed the chunk's bytes while they are copied.
  std::shared_ptr<StreamedNorm> norm;
  // If set, must be called once the chunk's bytes are in place.
  Incoming::Landed landed;
  // Held while bytes are being written.
  std::shared_ptr<void> in_progress;
};

// Returns the error of a peer that has more than Transport::kMaxQueued unanswered offers.
absl::Status TooManyOffers();

// ReceiveLedger records what one peer may send: the buffers posted for it, how far each is filled,
// and the messages that the peer has offered without a post.
//
// Every chunk is checked against the ledger before a byte of it is written, so that a peer can only
// ever fill what was posted, once, from front to back.
class ReceiveLedger {
 public:
  // Expects one message with `tag` into `buffer`. Returns ResourceExhausted beyond
  // Transport::kMaxQueued posts, and AlreadyExists for a tag that is still open.
  absl::Status Post(Tag tag, Incoming buffer);

  // Takes the peer's offer of a message. Returns true if nothing is posted for it: the offer then
  // waits for Post or Decline. An error, here and below, is the peer's violation of the protocol,
  // phrased to follow "rank 3 ". `unheard` is the number of refusals of which the peer has not been
  // told; they count towards the bound of Transport::kMaxQueued offers.
  absl::StatusOr<bool> Take(const Offer& offer, size_t unheard = 0);
  // Closes an offer. Returns NotFound if no such offer exists or if it has been answered.
  absl::Status Decline(Tag tag);

  // Takes a post back. Returns true if the post exists and its message is not on the way; the post
  // then stays open until Return or Landed.
  bool Withdraw(Tag tag);
  // Closes a withdrawn post whose credit the peer returns. Returns when that credit was to be
  // announced.
  absl::StatusOr<Credit> Return(Tag tag);
  // Closes a withdrawn post; the peer must not know of its credit.
  void Close(Tag tag) { open_.erase(tag); }
  // Whether an open post was withdrawn and its message is not on the way.
  bool withdrawn(Tag tag) const;
  // Returns when the credit of an open post is announced.
  Credit credit(Tag tag) const { return open_.at(tag).memory.credit; }

  // Records that the credit of an open post is to be announced to the peer: now, and again by every
  // connection that is made before the message begins to arrive.
  void Announce(Tag tag);
  // Records that the peer is told of the credit of a post. Does nothing if the peer has already
  // sent the message without the credit.
  void Tell(Tag tag);
  // Whether the peer was told of the credit of an open post.
  bool told(Tag tag) const { return open_.at(tag).told; }

  // Returns the point at which a new connection begins, except for the number of messages received,
  // which is left 0.
  ResumePoint Point() const;
  // Returns the posts whose credits a new connection has to announce, in the order in which they
  // were first announced.
  std::vector<std::pair<Tag, Credit>> Announced() const;

  // Checks a chunk that is about to be copied, and returns where its bytes go.
  absl::StatusOr<Landing> Accept(const ChunkHeader& chunk) const;

  // Records that an accepted chunk was copied and that the message's checksum is now `crc32c`.
  // Returns true if the message is complete; its post is then closed.
  absl::StatusOr<bool> Landed(const ChunkHeader& chunk, uint32_t crc32c);

  bool empty() const { return open_.empty(); }
  // Returns the open tags, in order.
  std::vector<Tag> Open() const;
  void Clear();

 private:
  struct OpenPost {
    Incoming memory;
    int64_t filled = 0;
    int64_t total = 0;  // size of the message, once some of it has arrived
    uint32_t crc32c = 0;
    uint64_t offer = 0;      // number of the peer's offer of the message; 0 if none
    uint64_t announced = 0;  // position of the credit in the order of announcement; 0 if not yet
    bool told = false;
    bool withdrawn = false;

    // Whether the message is ready at the peer, or on the way.
    bool certain() const { return offer > 0 || filled > 0; }
  };
  std::map<Tag, OpenPost> open_;
  std::map<Tag, uint64_t> offers_;  // number of each offer that has not been answered
  uint64_t offers_heard_ = 0;
  uint64_t announcements_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_FLOW_CONTROL_H_
