// PeerLink holds both directions between this node and one peer, without the wire: the messages
// that wait to be sent, the posts, and whether the peer is still alive. PeerLinks holds the links
// of one node to all its peers.
//
// Streams come and go in either direction. A link outlives them, and takes posts and messages
// before the first stream. A direction whose stream breaks is interrupted: it goes on with the next
// stream, at the point where the receiver says that the last one ended (ResumePoint). The link is
// also the one place where a peer is given up: Break reports it once and takes both streams down.
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

// The connection of one direction, as far as a link knows it. Thread-safe.
class EdgeStream {
 public:
  virtual ~EdgeStream() = default;
  // Tells the stream that there may be something to write.
  virtual void Wake() = 0;
  // Ends the stream at once, and tells the peer `why` if possible.
  virtual void Abort(const absl::Status& why) = 0;
  // Ends the stream in order: finishes what was begun, and tells the peer.
  virtual void Leave() = 0;
};

// Returns the error of a second connection of a rank; a rank is admitted once.
absl::Status ConnectedAlready(Rank peer);

// Returns the status that ends both a stream whose peer has called again and that call; the peer's
// next call finds room.
absl::Status HasComeAgain(Rank peer);

// Whether a stream that has ended with `code` may be followed by another: the stream broke, or the
// peer had no room for it at the time. A peer that has been given up hears another code.
bool MayComeAgain(absl::StatusCode code);

class PeerLink : public std::enable_shared_from_this<PeerLink> {
 public:
  // `chunk_bytes` is the largest number of bytes that a chunk carries. `desk` is the node's desk,
  // at which credits in turn wait. `process` is the peer's process, if it is known before the peer
  // is heard from.
  PeerLink(Rank peer, int64_t chunk_bytes, std::shared_ptr<SinkGate> gate,
           std::shared_ptr<CreditDesk> desk, std::optional<uint64_t> process = std::nullopt)
      : peer_(peer),
        gate_(std::move(gate)),
        desk_(std::move(desk)),
        process_(process),
        queue_(chunk_bytes) {}

  Rank peer() const { return peer_; }

  // Send, Post, Decline and Withdraw do what the methods of Transport with these names do. `held`
  // is released with the message. Once the link is broken, they return the status that broke it.
  absl::Status Send(Tag tag, Outgoing message, std::shared_ptr<void> held);
  absl::Status Post(Tag tag, Incoming buffer);
  absl::Status Decline(Tag tag);
  absl::Status Withdraw(Tag tag);

  // Attaches a stream to the outgoing direction, whose last stream must be over. Returns the status
  // that broke the link, if it is broken.
  absl::Status AttachOutgoing(std::shared_ptr<EdgeStream> stream);
  // Attaches a stream to the incoming direction, and returns the point at which the caller's
  // messages go on. Returns AlreadyExists for a call that is not a later one of the same process.
  // Returns Unavailable if the last stream still exists, which is then ended: the caller is to come
  // again.
  absl::StatusOr<ResumePoint> AttachIncoming(std::shared_ptr<EdgeStream> stream, EdgeCall call);

  // Takes the peer's answer: the peer is `process`, and the messages to it go on at `point`. An
  // error is the peer's violation.
  absl::Status Resume(uint64_t process, const ResumePoint& point);

  // The outgoing direction. Next returns what to write next, if anything; Granted takes what the
  // peer says about credits, offers and messages.
  using Departing = std::variant<Offer, Withdrawn, Piece>;
  std::optional<Departing> Next();
  absl::Status Granted(const Grant& grant);

  // The incoming direction. TakeGrant returns what to tell the peer, if anything is new. Offered
  // takes an offer, Returned a credit that comes back, and Accept and Landed a chunk, before and
  // after its data is copied. Errors are the peer's violations, phrased to follow "rank 3 ". A
  // message that comes after the end of the link was sent by a peer that did not know of the end:
  // it is no violation, and a chunk has no place then.
  std::optional<Grant> TakeGrant();
  absl::Status Offered(const Offer& offer);
  absl::Status Returned(const Withdrawn& withdrawn);
  absl::StatusOr<std::optional<Landing>> Accept(const ChunkHeader& chunk);
  absl::Status Landed(const ChunkHeader& chunk, uint32_t crc32c);

  // Record that the peer has ended a direction in order, which is a failure only if the direction
  // is still needed.
  void OutgoingEnded();
  void IncomingEnded();

  // Record that the stream of a direction broke. The direction is interrupted, unless the peer has
  // left in order.
  void OutgoingBroke(const absl::Status& why);
  void IncomingBroke(const absl::Status& why);
  // Records that another attempt to connect has failed.
  void NotMended(const absl::Status& how);
  // Records that nothing more comes from the incoming stream; its direction may get another stream.
  void IncomingClosed();
  // Records that `tick` has passed. Gives up a peer that has been interrupted for `peer_timeout`.
  void Tick(std::chrono::milliseconds tick, std::chrono::milliseconds peer_timeout);

  // Gives the peer up, once. `why` names the peer.
  void Break(const absl::Status& why);
  // Gives the peer up, and waits until nothing is written into the posted buffers any more.
  void GiveUp(const absl::Status& why);
  // Ends the streams in order, because this node leaves the run; nothing more is taken.
  void Leave();

  // Whether the peer was given up or this node has left.
  bool broken();
  // Whether the peer was `process` when it was given up.
  bool HasGivenUp(uint64_t process);
  // Whether nothing more is to be heard on the outgoing direction: the link is broken, or the peer
  // has ended the direction in order.
  bool outgoing_over();
  // Whether the outgoing stream broke and no other has connected yet.
  bool outgoing_interrupted();
  TransportCounters counters();

 private:
  struct Streams {
    std::shared_ptr<EdgeStream> outgoing;
    std::shared_ptr<EdgeStream> incoming;
  };
  absl::Status LeftTheRun() const;
  // Returns why the caller of `call` may not attach a stream; OK if it may.
  absl::Status Objection(const EdgeCall& call) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status Replaced() const;
  // Whether the receiver has come further than ever before, or nothing waits for it.
  bool GetsOn(const ResumePoint& point) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether the peer is another process than before. Learns the process if it was not known.
  bool IsAnother(uint64_t process) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Starts the incoming direction on `stream`; returns the point at which the caller's messages go
  // on.
  ResumePoint StartIncoming(std::shared_ptr<EdgeStream> stream)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void WakeOutgoing();
  void WakeIncoming();
  // Marks the link as broken. Returns its streams, or nullopt if it was broken before.
  std::optional<Streams> End(const absl::Status& why, bool leaves = false);
  void DropAll();
  std::vector<Tag> TakeTags(Credit credit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Records that a direction has ended in order.
  void Ended(bool PeerLink::*direction);
  void EndLanding();
  // Returns how many messages have been received; 0 if the peer was told this number before.
  uint64_t TakeReceived() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Lets the peer know of another received message, which the sink knows already.
  void Acknowledge();
  // Announces a credit that is due.
  void Announce(Tag tag, Credit credit);
  bool IsToBeAnnounced(Tag tag) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Closes a withdrawn post if the peer has not been told of its credit and never will be; returns
  // whether it did. `due` is then set to the credits that waited for the message of the post.
  bool TakeBack(Tag tag, CreditDesk::Due* due) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Reports a post that is closed without its message, after making the calls of `due`.
  void ReportLost(Tag tag, const CreditDesk::Due& due);

  const Rank peer_;
  const std::shared_ptr<SinkGate> gate_;
  const std::shared_ptr<CreditDesk> desk_;
  Mutex mutex_;
  absl::Status broken_ ABSL_GUARDED_BY(mutex_);
  bool left_ ABSL_GUARDED_BY(mutex_) = false;  // whether broken_ only says that this node has left
  EdgeInterruption outgoing_interruption_ ABSL_GUARDED_BY(mutex_);
  EdgeInterruption incoming_interruption_ ABSL_GUARDED_BY(mutex_);
  std::optional<uint64_t> process_ ABSL_GUARDED_BY(mutex_);  // the peer's process, once known
  uint64_t last_call_ ABSL_GUARDED_BY(mutex_) = 0;           // number of the peer's latest call
  // The furthest point that the peer has reported: the messages received and the bytes of the next
  // one in furthest_, the offers in offers_heard_.
  std::pair<uint64_t, int64_t> furthest_ ABSL_GUARDED_BY(mutex_);
  uint64_t offers_heard_ ABSL_GUARDED_BY(mutex_) = 0;
  bool outgoing_ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool incoming_ended_ ABSL_GUARDED_BY(mutex_) = false;
  SendQueue queue_ ABSL_GUARDED_BY(mutex_);
  ReceiveLedger ledger_ ABSL_GUARDED_BY(mutex_);
  // Tags that the peer has yet to be told: credits, refusals of offers, and credits that are wanted
  // back.
  std::map<Credit, std::vector<Tag>> grants_ ABSL_GUARDED_BY(mutex_);
  std::vector<Tag> declined_ ABSL_GUARDED_BY(mutex_);
  std::vector<Tag> withdrawn_ ABSL_GUARDED_BY(mutex_);
  // Numbers of received messages that the sink knows of, and that the peer knows of.
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
  // Makes the links of `self` among `world_size` ranks. `chunk_bytes` is the largest number of
  // bytes that a chunk carries. `desk` is the desk at which credits in turn wait, with a clock of
  // its own.
  PeerLinks(Rank self, Rank world_size, int64_t chunk_bytes, std::shared_ptr<SinkGate> gate,
            std::shared_ptr<CreditDesk> desk = std::make_shared<CreditDesk>())
      : self_(self),
        world_size_(world_size),
        chunk_bytes_(chunk_bytes),
        gate_(std::move(gate)),
        desk_(std::move(desk)) {}

  // Returns the link to `peer`; InvalidArgument for a rank that is no peer of this node.
  absl::StatusOr<std::shared_ptr<PeerLink>> To(Rank peer);
  // Returns all links that have been made.
  std::vector<std::shared_ptr<PeerLink>> All();
  // Replaces the link to a peer that was given up by one to `process`, which has taken its place.
  void Renew(Rank peer, uint64_t process);
  // Returns the totals over all links, including those that Renew has replaced.
  TransportCounters counters();

 private:
  const Rank self_;
  const Rank world_size_;
  const int64_t chunk_bytes_;
  const std::shared_ptr<SinkGate> gate_;
  const std::shared_ptr<CreditDesk> desk_;
  Mutex mutex_;
  std::map<Rank, std::shared_ptr<PeerLink>> links_ ABSL_GUARDED_BY(mutex_);
  TransportCounters before_ ABSL_GUARDED_BY(mutex_);  // totals of the links that were replaced
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_PEER_LINK_H_
