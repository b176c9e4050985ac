// How messages get from node to node.
//
// Two implementations under one contract suite (tests/node/transport/transport_contract): in
// memory, between threads of one process, and gRPC. A message is bytes under a tag, with a note. It
// moves once its receiver has posted a buffer for it: the post is the sender's credit, so a
// receiver's memory is bounded by what it posted, whatever its peers do. A message without a post
// does not hold up a later one that has its own: messages of one edge may overtake each other.
//
// Thread-safety: all calls from any thread. Sink calls come from the
// transport's threads, must not block and must not call back into the transport.
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

  // The message is complete in its posted buffer, its checksum matches, and the transport no longer
  // holds the buffer: its memory may be reused at once.
  virtual void OnReceived(const Received& message) = 0;
  // The sender holds a message for which nothing is posted: it waits for Post or Decline. May be
  // called within Dial and Post, which admit the sender.
  virtual void OnOffered(const Offered& offer) = 0;
  // A post that was withdrawn will not be filled, and the transport no longer holds its buffer. May
  // be called within Withdraw.
  virtual void OnLost(Rank from, Tag tag) = 0;
  // The bytes have left this node. The transport holds them until OnSent: where the connection
  // breaks before, they leave again.
  virtual void OnLeft(Rank to, Tag tag) = 0;
  // The receiver has acknowledged that the message is complete in its posted buffer, and the
  // transport no longer holds the bytes. Comes after OnLeft, and never for a message that is lost:
  // after OnPeerFailed, nothing more is reported about that peer.
  virtual void OnSent(Rank to, Tag tag) = 0;
  // The receiver has declined the offered message: its bytes have not left, and the transport no
  // longer holds them. Comes instead of OnLeft and OnSent; and ends all sends to a peer that was
  // given up (GiveUp).
  virtual void OnDeclined(Rank to, Tag tag) = 0;
  // The peer is lost to this transport: the connection broke and was not mended in time, another
  // process has taken its place, it violated the protocol, or it has been silent past the time-out.
  // The status names the peer, what happened and since when; it carries kRendezvous when no
  // connection to it has ever come about: it was out of reach, or the two nodes do not fit
  // together. At most once per peer.
  virtual void OnPeerFailed(Rank peer, const absl::Status& why) = 0;
};

// What crossed the wire, payload bytes without framing; what left twice counts twice.
struct TransportCounters {
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
  int64_t messages_sent = 0;
  int64_t messages_received = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // `peers` are this node's neighbours from now on: opens connections to them ahead of their first
  // use, and admits theirs. Returns at once, failures come through OnPeerFailed. Sending to a peer
  // dials it anyway, and posting for one admits it.
  virtual void Dial(std::span<const Rank> peers) = 0;

  // Errors of requests that concern a lost peer name it (LostPeer): they may come before its
  // OnPeerFailed is handled, or without one where it left when nothing was awaited.

  // Queues a message; never blocks. The part that is ready may leave, and must not be written
  // before its end. An offered message is announced to a receiver that has posted nothing for it,
  // once it expects this node (Dial). ResourceExhausted when more than kMaxQueued messages to one
  // peer have not been received: the algorithm broke its own window.
  virtual absl::Status Send(Rank to, Tag tag, Outgoing message) = 0;

  // Grants `from` one message with `tag` into `buffer`, not smaller than buffer.least. Also the
  // answer to an offer.
  virtual absl::Status Post(Rank from, Tag tag, Incoming buffer) = 0;

  // Refuses an offer: NotFound where there is none, or it has been answered.
  virtual absl::Status Decline(Rank from, Tag tag) = 0;

  // Takes a post back, which then ends in OnLost, or in OnReceived where its message is on the way.
  // Does nothing where that has come already.
  virtual absl::Status Withdraw(Rank from, Tag tag) = 0;

  // The peer is no longer in the run: ends all traffic with it, for `why`, whether it is lost or
  // not. What was posted for it is not touched any more when this returns, and nothing tells of its
  // end; what was to be sent ends in OnDeclined as soon as the transport no longer holds it.
  virtual void GiveUp(Rank peer, const absl::Status& why) = 0;

  // A peer that was given up is in the run again, as another process, from which nothing has been
  // heard: it may be posted for and sent to. Only where processes can come again.
  virtual void TakeIn(Rank peer) {}

  virtual TransportCounters counters() const = 0;

  // Stops all traffic; after it returns the sink is not called again.
  virtual void Shutdown() = 0;

  static constexpr int kMaxQueued = 1024;
};

// `why`, not OK, with the peer whose loss it tells of; and that peer, if there is one.
absl::Status WithLostPeer(absl::Status why, Rank peer);
std::optional<Rank> LostPeer(const absl::Status& status);

// The path from a transport's threads to its sink, which Shutdown closes. Calls are serialized;
// PeerFailed passes once per peer, and nothing about that peer after it, but the ends of sends once
// it is given up. Nothing passes after Close has returned. Thread-safe. Held by shared_ptr, because
// memory that is being sent reports through it and may outlive the transport.
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
  // After PeerFailed: sends to that peer end as declined.
  void GiveUp(Rank peer);
  // It is another process: things pass again.
  void TakeIn(Rank peer);
  void Close();

 private:
  struct FailedPeer {
    bool given_up = false;
    std::vector<Tag> ended;  // sends, before it was given up
  };
  // The end of a send to a peer that has failed; false if it has not.
  bool EndUndelivered(Rank to, Tag tag) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  TransportSink* sink_ ABSL_GUARDED_BY(mutex_);
  std::map<Rank, FailedPeer> failed_ ABSL_GUARDED_BY(mutex_);
};

// `message`, which reports through `gate`: OnLeft when the last reference to its bytes goes, after
// releasing `held`; OnSent when its receipt, which keeps their memory, is gone too. Where it was
// declined, only OnDeclined.
Outgoing Reported(Outgoing message, std::shared_ptr<SinkGate> gate, Rank to, Tag tag,
                  std::shared_ptr<void> held = nullptr);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_TRANSPORT_H_
