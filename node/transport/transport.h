// Transport moves messages between nodes; TransportSink hears what becomes of them.
//
// One contract suite (tests/node/transport/transport_contract) covers two implementations: one in
// memory, between the threads of a process, and one over gRPC. A message is a run of bytes under a
// tag, with a note. It moves once its receiver has posted a buffer for it. The post is the sender's
// credit, so a receiver's memory is bounded by what it posted, whatever its peers do. A message
// without a post does not hold up a later message that has one: messages of one edge may overtake
// each other.
//
// Thread-safety: a Transport may be called from any thread. The sink is called on the transport's
// threads; it must not block and must not call back into the transport.
#ifndef GRAPEVINE_NODE_TRANSPORT_TRANSPORT_H_
#define GRAPEVINE_NODE_TRANSPORT_TRANSPORT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/event.h"
#include "node/transport/message_memory.h"
#include "system/mutex.h"

namespace grapevine {

class TransportSink {
 public:
  virtual ~TransportSink() = default;

  // Reports that a message is complete in its posted buffer and that its checksum matches. The
  // transport no longer holds the buffer, whose memory may be reused at once.
  virtual void OnReceived(const Received& message) = 0;
  // Reports that a peer holds a message for which nothing is posted; the message waits for Post or
  // Decline. May be called within Dial and Post, which admit the sender.
  virtual void OnOffered(const Offered& offer) = 0;
  // Reports that a withdrawn post will not be filled and that the transport no longer holds its
  // buffer. May be called within Withdraw.
  virtual void OnLost(Rank from, Tag tag) = 0;
  // Reports that the bytes of a message have left this node. The transport holds them until OnSent:
  // if the connection breaks before that, they leave again.
  virtual void OnLeft(Rank to, Tag tag) = 0;
  // Reports that the receiver has acknowledged the message as complete in its posted buffer and
  // that the transport no longer holds the bytes. Comes after OnLeft, and never for a message that
  // is lost: after OnPeerFailed, nothing more is reported about that peer.
  virtual void OnSent(Rank to, Tag tag) = 0;
  // Reports that the receiver has declined an offered message: its bytes have not left, and the
  // transport no longer holds them. Comes instead of OnLeft and OnSent. Also ends all sends to a
  // peer that was given up (GiveUp).
  virtual void OnDeclined(Rank to, Tag tag) = 0;
  // Reports that a peer is lost to this transport: the connection broke and was not mended in time,
  // another process has taken the peer's place, the peer violated the protocol, or it has been
  // silent past the time-out. `why` names the peer, what happened and since when. It carries
  // kRendezvous when no connection to the peer has ever come about: the peer was out of reach, or
  // the two nodes do not fit together. Called at most once per peer.
  virtual void OnPeerFailed(Rank peer, const absl::Status& why) = 0;
};

// Traffic that crossed the wire: payload bytes without framing. Bytes that left twice count twice.
struct TransportCounters {
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
  int64_t messages_sent = 0;
  int64_t messages_received = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Makes `peers` neighbours of this node from now on: opens connections to them ahead of their
  // first use, and admits connections from them. Returns at once; failures are reported through
  // OnPeerFailed. Send dials its peer anyway, and Post admits its peer.
  virtual void Dial(std::span<const Rank> peers) = 0;

  // The requests below return an error that names the peer (LostPeer) if it is lost. Such an error
  // may come before OnPeerFailed is handled, or without OnPeerFailed if the peer left while nothing
  // was awaited from it.

  // Queues a message; never blocks. The part of it that is ready may leave at once, and must not be
  // written before the send has ended. An offered message is announced to a receiver that has
  // posted nothing for it, once the receiver expects this node (Dial). Returns ResourceExhausted
  // when more than kMaxQueued messages to one peer have not been received: the algorithm broke its
  // own window.
  virtual absl::Status Send(Rank to, Tag tag, Outgoing message) = 0;

  // Grants `from` one message with `tag` into `buffer`; the message has at least buffer.least
  // bytes. Also accepts an offer of that message.
  virtual absl::Status Post(Rank from, Tag tag, Incoming buffer) = 0;

  // Refuses an offer. Returns NotFound if no such offer exists or if it has been answered.
  virtual absl::Status Decline(Rank from, Tag tag) = 0;

  // Takes a post back. The post then ends in OnLost, or in OnReceived if its message is on the way.
  // Does nothing if the post has ended already.
  virtual absl::Status Withdraw(Rank from, Tag tag) = 0;

  // Ends all traffic with a peer that is no longer in the run, for `why`, whether or not the peer
  // is lost. When GiveUp returns, the buffers posted for the peer are not touched any more, and the
  // end of those posts is not reported. Each send to the peer ends in OnDeclined as soon as the
  // transport no longer holds its bytes.
  virtual void GiveUp(Rank peer, const absl::Status& why) = 0;

  // Takes a peer that was given up into the run again, as another process, from which nothing has
  // been heard: Post and Send accept it from now on. Must be called only in runs whose processes
  // can come again.
  virtual void TakeIn(Rank peer) {}

  virtual TransportCounters counters() const = 0;

  // Stops all traffic. Once Shutdown has returned, the sink is not called again.
  virtual void Shutdown() = 0;

  static constexpr int kMaxQueued = 1024;
};

// Returns `why`, which must not be OK, marked with the peer whose loss it reports.
absl::Status WithLostPeer(absl::Status why, Rank peer);
// Returns the peer with which WithLostPeer has marked `status`, if any.
std::optional<Rank> LostPeer(const absl::Status& status);

// SinkGate is the path from a transport's threads to its sink; Shutdown closes it. The gate
// serializes calls. It passes PeerFailed once per peer, and afterwards nothing about that peer,
// except the ends of its sends once it is given up. Nothing passes after Close has returned.
//
// Thread-safe. Held by shared_ptr, because memory that is being sent reports through the gate and
// may outlive the transport.
class SinkGate {
 public:
  explicit SinkGate(TransportSink* sink) : sink_(sink) {}

  void Received(const grapevine::Received& message);
  void Offered(const grapevine::Offered& offer);
  void Lost(Rank from, Tag tag);
  void Left(Rank to, Tag tag);
  void Sent(Rank to, Tag tag);
  void Declined(Rank to, Tag tag);
  void PeerFailed(Rank peer, const absl::Status& why);
  // Reports sends to `peer` as declined, those that have ended since PeerFailed and those that end
  // later.
  void GiveUp(Rank peer);
  // Lets calls about `peer` pass again: it is another process from now on.
  void TakeIn(Rank peer);
  void Close();

 private:
  struct FailedPeer {
    bool given_up = false;
    std::vector<Tag> ended;  // sends that ended before the peer was given up
  };
  // Handles the end of a send to a peer that has failed; returns false if the peer has not failed.
  bool EndUndelivered(Rank to, Tag tag) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  TransportSink* sink_ ABSL_GUARDED_BY(mutex_);
  std::map<Rank, FailedPeer> failed_ ABSL_GUARDED_BY(mutex_);
};

// Returns `message`, changed so that it reports its end through `gate`. It reports OnLeft when the
// last reference to its bytes goes, after releasing `held`, and OnSent when its receipt, which
// keeps the memory of the bytes, is gone too. A declined message reports only OnDeclined.
Outgoing Reported(Outgoing message, std::shared_ptr<SinkGate> gate, Rank to, Tag tag,
                  std::shared_ptr<void> held = nullptr);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_TRANSPORT_H_
