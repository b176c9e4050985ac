// The credit-based flow of messages over one direction of an edge: what waits at the sender
// (SendQueue), what the receiver has posted and what has come of it (ReceiveLedger), and where both
// go on after a broken connection (ResumePoint).
//
// Thread-compatible: the edge's lock guards them.
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

// Where the messages of one direction go on after their connection broke: what the receiver has of
// them, and knows.
//
// The receiver says it when a connection is made. Whatever it does not name was lost with the last
// one: a sender has no credit but for the message that `partial` names, and announces every other
// offer again. Plain values; all zero on the first connection.
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

// What a peer is told beside messages.
using Notice = std::variant<Offer, Withdrawn>;

// A part of a message, ready to go. Its bytes keep the message's memory alive.
struct Piece {
  ChunkHeader header;  // without checksum
  SharedBytes message;
  SharedBytes data;  // the part of `message` that the header names
};

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

// Where the bytes of an accepted chunk go. They are copied outside the edge's lock; this keeps
// their memory alive meanwhile.
struct Landing {
  std::shared_ptr<void> owner;
  std::byte* into = nullptr;
  uint32_t crc32c = 0;  // of the message's bytes before this chunk
  Round round = -1;     // for which the message was posted; none: -1
  // If set, takes in the chunk's bytes while they are copied.
  std::shared_ptr<StreamedNorm> norm;
  // If set, to be called once the chunk's bytes are in place.
  Incoming::Landed landed;
  // Held while bytes are being written.
  std::shared_ptr<void> in_progress;
};

// The error of a peer with more than Transport::kMaxQueued offers that have not been answered.
absl::Status TooManyOffers();

// What one peer may send: the buffers posted for it, how far each is filled, and what it has
// offered without one.
//
// Every chunk is checked against the ledger before a byte of it is written, so
// that a peer can only ever fill what was posted, once, from front to back.
class ReceiveLedger {
 public:
  // Expects one message with `tag` into `buffer`. ResourceExhausted beyond
  // Transport::kMaxQueued posts, AlreadyExists for a tag that is still open.
  absl::Status Post(Tag tag, Incoming buffer);

  // The peer offers a message. True when nothing is posted for it: the offer waits for Post or
  // Decline. An error is the peer's violation of the protocol, phrased to follow "rank 3 ", here
  // and below. `unheard`: refusals of which the peer has not been told; they count towards the
  // bound of Transport::kMaxQueued offers.
  absl::StatusOr<bool> Take(const Offer& offer, size_t unheard = 0);
  // Closes an offer. NotFound where there is none.
  absl::Status Decline(Tag tag);

  // Takes a post back, if there is one whose message is not on the way: true, and it stays open
  // until Return or Landed.
  bool Withdraw(Tag tag);
  // The peer returns the credit of a post that was withdrawn, which is closed. Returns when that
  // credit was to be announced.
  absl::StatusOr<Credit> Return(Tag tag);
  // A withdrawn post of whose credit the peer knows nothing is closed.
  void Close(Tag tag) { open_.erase(tag); }
  // Whether an open post was withdrawn, and its message is not on the way.
  bool withdrawn(Tag tag) const;
  // When the credit of an open post is announced.
  Credit credit(Tag tag) const { return open_.at(tag).memory.credit; }

  // The credit of an open post is to be announced to the peer: now, and again by every connection
  // that is made before its message begins to arrive.
  void Announce(Tag tag);
  // The peer is told of it. Does nothing where it has sent the message without.
  void Tell(Tag tag);
  bool told(Tag tag) const { return open_.at(tag).told; }

  // What a new connection begins with, but for the number of messages received.
  ResumePoint Point() const;
  // The posts whose credits it has to announce, as they were announced first.
  std::vector<std::pair<Tag, Credit>> Announced() const;

  // Checks a chunk that is about to be copied.
  absl::StatusOr<Landing> Accept(const ChunkHeader& chunk) const;

  // Records that an accepted chunk was copied and that the message's checksum is now `crc32c`. True
  // when the message is complete; its post is then closed.
  absl::StatusOr<bool> Landed(const ChunkHeader& chunk, uint32_t crc32c);

  bool empty() const { return open_.empty(); }
  // The open tags, in order.
  std::vector<Tag> Open() const;
  void Clear();

 private:
  struct OpenPost {
    Incoming memory;
    int64_t filled = 0;
    int64_t total = 0;  // of the message, once some of it has arrived
    uint32_t crc32c = 0;
    uint64_t offer = 0;      // the number of its message's, which is ready at the peer; none: 0
    uint64_t announced = 0;  // in the order of the credits; not yet: 0
    bool told = false;
    bool withdrawn = false;

    // Its message is ready at the peer, or on the way.
    bool certain() const { return offer > 0 || filled > 0; }
  };
  std::map<Tag, OpenPost> open_;
  std::map<Tag, uint64_t> offers_;  // with their numbers
  uint64_t offers_heard_ = 0;
  uint64_t announcements_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_FLOW_CONTROL_H_
