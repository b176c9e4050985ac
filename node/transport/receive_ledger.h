// What one peer may send: the buffers posted for it, how far each is filled, and what it has
// offered without one.
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
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "node/transport/message_memory.h"
#include "node/transport/resume_point.h"

namespace grapevine {

// Where the bytes of an accepted chunk go.
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

#endif  // GRAPEVINE_NODE_TRANSPORT_RECEIVE_LEDGER_H_
