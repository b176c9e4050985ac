// Both directions between this node and one peer, without the wire: what waits
// to be sent, what is posted, and whether the peer is still there; and the links of
// one node to all its peers.
//
// Streams come and go in either direction; a link outlives them, and takes posts and messages
// before there are any. A direction whose stream breaks is interrupted: it goes on with the next
// stream, where the receiver says that the last one ended (ResumePoint). The link is also the
// one place where a peer is given up: Break reports it once and takes both streams down.
//
// Thread-safe.
#ifndef GRAPEVINE_NODE_TRANSPORT_EDGE_PEER_LINK_H_
#define GRAPEVINE_NODE_TRANSPORT_EDGE_PEER_LINK_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "node/transport/credit_desk.h"
#include "node/transport/edge/edge_identity.h"
#include "node/transport/edge/reconnection.h"
#include "node/transport/edge/wire_format.h"
#include "node/transport/flow_control.h"
#include "node/transport/transport.h"
#include "system/mutex.h"

namespace grapevine {

// One direction's connection, as far as a link knows it. Thread-safe.
class EdgeStream {
 public:
  virtual ~EdgeStream() = default;
  // There may be something to write.
  virtual void Wake() = 0;
  // Ends the stream at once; the peer is told why if possible.
  virtual void Abort(const absl::Status& why) = 0;
  // Ends it in order: what was begun is finished, and the peer is told.
  virtual void Leave() = 0;
};

// The error of a second connection: a rank is admitted once.
absl::Status ConnectedAlready(Rank peer);

// With it ends a stream whose peer has called again, and that call: the next one finds room.
absl::Status HasComeAgain(Rank peer);

// Whether a stream that has ended with this code may be followed by another: it broke, or the peer
// had no room for it at the time. A peer that has been given up hears another code.
bool MayComeAgain(absl::StatusCode code);

class PeerLink : public std::enable_shared_from_this<PeerLink> {
 public:
  // `chunk_bytes`: the most one chunk carries.
  // `desk`: the node's, where credits in turn wait. `process`: the peer's, if it is known before
  // anything is heard of it.
  PeerLink(Rank peer, int64_t chunk_bytes, std::shared_ptr<SinkGate> gate,
           std::shared_ptr<CreditDesk> desk, std::optional<uint64_t> process = std::nullopt)
      : peer_(peer),
        gate_(std::move(gate)),
        desk_(std::move(desk)),
        process_(process),
        queue_(chunk_bytes) {}

  Rank peer() const { return peer_; }

  // As Transport's. `held` is released with the message. After a failure they return its status.
  absl::Status Send(Tag tag, Outgoing message, std::shared_ptr<void> held);
  absl::Status Post(Tag tag, Incoming buffer);
  absl::Status Decline(Tag tag);
  absl::Status Withdraw(Tag tag);

  // Attaches a direction's stream, whose predecessor is over; the failure when the link is broken.
  absl::Status AttachOutgoing(std::shared_ptr<EdgeStream> stream);
  // Where the caller's messages go on. AlreadyExists for a call that is no later one of the same
  // process; Unavailable where the last stream is still here, which is then ended: the caller is to
  // come again.
  absl::StatusOr<ResumePoint> AttachIncoming(std::shared_ptr<EdgeStream> stream, EdgeCall call);

  // The peer has answered, as this process, and says where the messages to it go on. An error is
  // its violation.
  absl::Status Resume(uint64_t process, const ResumePoint& point);

  // Outgoing: what to write next; what the peer says of credits, offers and messages.
  using Departing = std::variant<Offer, Withdrawn, Piece>;
  std::optional<Departing> Next();
  absl::Status Granted(const Grant& grant);

  // Incoming: what to tell the peer, if there is anything new; an offer, and a credit that comes
  // back; a chunk before and after its data is copied. Errors are the peer's violations, phrased to
  // follow "rank 3 ". What comes after the link's end was sent by a peer that did not know of it:
  // it is no violation, and a chunk has no place.
  std::optional<Grant> TakeGrant();
  absl::Status Offered(const Offer& offer);
  absl::Status Returned(const Withdrawn& withdrawn);
  absl::StatusOr<std::optional<Landing>> Accept(const ChunkHeader& chunk);
  absl::Status Landed(const ChunkHeader& chunk, uint32_t crc32c);

  // The peer ended a direction in order: a failure only if it is still needed.
  void OutgoingEnded();
  void IncomingEnded();

  // A direction's stream broke: it is interrupted, unless the peer has left in order.
  void OutgoingBroke(const absl::Status& why);
  void IncomingBroke(const absl::Status& why);
  // Another attempt to connect has failed.
  void NotMended(const absl::Status& how);
  // Nothing more comes from the incoming stream; its direction may have another.
  void IncomingClosed();
  // `tick` has passed: gives up a peer that has been interrupted for `peer_timeout`.
  void Tick(std::chrono::milliseconds tick, std::chrono::milliseconds peer_timeout);

  // Gives the peer up, once. `why` names it.
  void Break(const absl::Status& why);
  // The same, and waits until nothing is written into what was posted any more.
  void GiveUp(const absl::Status& why);
  // This node leaves: streams end in order, nothing more is taken.
  void Leave();

  // Given up, or left.
  bool broken();
  // Whether the peer was this process when it was given up.
  bool HasGivenUp(uint64_t process);
  // Nothing more is to be heard on the outgoing direction: broken, or ended in order.
  bool outgoing_over();
  // The outgoing stream broke, and there is no other yet.
  bool outgoing_interrupted();
  TransportCounters counters();

 private:
  struct Streams {
    std::shared_ptr<EdgeStream> outgoing;
    std::shared_ptr<EdgeStream> incoming;
  };
  absl::Status LeftTheRun() const;
  // Why a caller has no place here; OK where it may have it.
  absl::Status Objection(const EdgeCall& call) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Replaced() const;
  // Whether the receiver has come further than ever before, or is owed nothing.
  bool GetsOn(const ResumePoint& point) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The peer is another process than before; learns which it is.
  bool IsAnother(uint64_t process) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Where the caller's messages go on.
  ResumePoint StartIncoming(std::shared_ptr<EdgeStream> stream)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // More of a message may be ready.
  void WakeOutgoing();
  void WakeIncoming();
  // Marks the link as broken; returns its streams, or nullopt when it was broken before.
  std::optional<Streams> End(const absl::Status& why, bool leaves = false);
  void DropAll();
  std::vector<Tag> TakeTags(Credit credit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A direction has ended in order.
  void Ended(bool PeerLink::*direction);
  void EndLanding();
  // How many messages have been received; 0 where that was said before.
  uint64_t TakeReceived() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The sink knows of another message: the peer may, too.
  void Acknowledge();
  // A credit is due.
  void Announce(Tag tag, Credit credit);
  bool IsToBeAnnounced(Tag tag) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Closes a withdrawn post if the peer has not been told of its credit, and never will be; `due`
  // are then the credits that waited for its message.
  bool TakeBack(Tag tag, CreditDesk::Due* due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // A post is closed without its message.
  void ReportLost(Tag tag, const CreditDesk::Due& due);

  const Rank peer_;
  const std::shared_ptr<SinkGate> gate_;
  const std::shared_ptr<CreditDesk> desk_;
  Mutex mutex_;
  absl::Status broken_ ABSL_GUARDED_BY(mutex_);
  bool left_ ABSL_GUARDED_BY(mutex_) = false;  // broken_ only says that this node has left
  EdgeInterruption outgoing_interruption_ ABSL_GUARDED_BY(mutex_);
  EdgeInterruption incoming_interruption_ ABSL_GUARDED_BY(mutex_);
  std::optional<uint64_t> process_ ABSL_GUARDED_BY(mutex_);  // the peer's, once known
  uint64_t last_call_ ABSL_GUARDED_BY(mutex_) = 0;           // the number of its latest
  // The furthest that the peer has said to have come: received, then bytes of the next; offers.
  std::pair<uint64_t, int64_t> furthest_ ABSL_GUARDED_BY(mutex_);
  uint64_t offers_heard_ ABSL_GUARDED_BY(mutex_) = 0;
  bool outgoing_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool incoming_ended_ ABSL_GUARDED_BY(mutex_) = false;
  SendQueue queue_ ABSL_GUARDED_BY(mutex_);
  ReceiveLedger ledger_ ABSL_GUARDED_BY(mutex_);
  // To be announced.
  std::map<Credit, std::vector<Tag>> grants_ ABSL_GUARDED_BY(mutex_);
  std::vector<Tag> declined_ ABSL_GUARDED_BY(mutex_);
  std::vector<Tag> withdrawn_ ABSL_GUARDED_BY(mutex_);
  // How many of the received messages the sink knows of, and the peer.
  int64_t reported_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t acknowledged_ ABSL_GUARDED_BY(mutex_) = 0;
  Streams streams_ ABSL_GUARDED_BY(mutex_);
  TransportCounters counters_ ABSL_GUARDED_BY(mutex_);
  int landings_ ABSL_GUARDED_BY(mutex_) = 0;  // chunks that are being copied
  Condition landed_;
};

// The links of one node to all its peers, made when they are first needed.
class PeerLinks {
 public:
  // Among `world_size` ranks. `chunk_bytes`: the most one chunk carries. `desk`: where credits in
  // turn wait, with a clock of its own.
  PeerLinks(Rank self, Rank world_size, int64_t chunk_bytes, std::shared_ptr<SinkGate> gate,
            std::shared_ptr<CreditDesk> desk = std::make_shared<CreditDesk>())
      : self_(self),
        world_size_(world_size),
        chunk_bytes_(chunk_bytes),
        gate_(std::move(gate)),
        desk_(std::move(desk)) {}

  // InvalidArgument for a rank that is no peer of this node.
  absl::StatusOr<std::shared_ptr<PeerLink>> To(Rank peer);
  std::vector<std::shared_ptr<PeerLink>> All();
  // Another process is in the place of a peer that was given up: from now on the link is its.
  void Renew(Rank peer, uint64_t process);
  // The totals over all peers, and over those that they took the place of.
  TransportCounters counters();

 private:
  const Rank self_;
  const Rank world_size_;
  const int64_t chunk_bytes_;
  const std::shared_ptr<SinkGate> gate_;
  const std::shared_ptr<CreditDesk> desk_;
  Mutex mutex_;
  std::map<Rank, std::shared_ptr<PeerLink>> links_ ABSL_GUARDED_BY(mutex_);
  TransportCounters before_ ABSL_GUARDED_BY(mutex_);  // of links that were renewed
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_PEER_LINK_H_
