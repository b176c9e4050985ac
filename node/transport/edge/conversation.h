// The handshake and the traffic of one edge, without the wire: the sender says Hello, checks
// who answers, takes credits and says what to write next; the receiver hears who calls, answers a
// caller that it authenticates and, once that is admitted, announces credits and copies chunks into
// the posted buffers. Each watches the other for silence.
//
// The ends are thread-safe as a stream uses them: one Next at a time, and one Hear or Closed; the
// rest from any thread.
#ifndef GRAPEVINE_NODE_TRANSPORT_EDGE_CONVERSATION_H_
#define GRAPEVINE_NODE_TRANSPORT_EDGE_CONVERSATION_H_

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "node/identity/authentication.h"
#include "node/transport/edge/edge_identity.h"
#include "node/transport/edge/peer_link.h"
#include "node/transport/edge/wire_format.h"
#include "system/mutex.h"

namespace grapevine {

// Tells a peer that has stopped from one that is slow: whether anything was
// heard from it within the time-out. Time passes in ticks of this node's own clock, so that
// a node that was itself stopped does not blame its peers on waking up.
//
// Thread-safe: Heard from the stream's thread, the rest from the monitor's.
class SilenceWatch {
 public:
  // Something arrived.
  void Heard() { quiet_ms_ = 0; }
  // The peer said that it is in `round`, or sent a message posted for it; -1: not known.
  void HeardRound(Round round) { round_ = std::max(round_.load(), round); }

  // `tick` has passed; returns the silence so far.
  std::chrono::milliseconds Tick(std::chrono::milliseconds tick) {
    return std::chrono::milliseconds(quiet_ms_ += tick.count());
  }

  // "last heard 4.1 s ago in round 812".
  std::string Describe() const;

 private:
  static constexpr Round kNoRound = -1;
  std::atomic<int64_t> quiet_ms_ = 0;
  std::atomic<Round> round_ = kNoRound;
};

// The failure of a peer that was silent for `timeout`.
absl::Status SilentPeer(Rank peer, const std::string& address, const SilenceWatch& watch,
                        std::chrono::milliseconds timeout);

class SendingEnd {
 public:
  struct Context {
    EdgeIdentity self;  // with its proof for this peer
    RunToken token;
    std::shared_ptr<PeerLink> link;
    std::string address;  // the peer's
    std::shared_ptr<ChecksumsInFlight> checksums;
    std::function<Round()> round;
  };

  explicit SendingEnd(Context context) : context_(std::move(context)) {}

  // The next message, with a chunk's data kept apart; nullopt when there is nothing to write.
  struct Message {
    std::string bytes;
    SharedBytes data;  // none where its size is 0
  };
  std::optional<Message> Next();

  // Takes one message of `size` bytes from the peer. An error is the peer's violation, which must
  // end the stream.
  absl::Status Hear(google::protobuf::io::ZeroCopyInputStream* in, int64_t size);

  // The stream has ended with this status. Tells the link what that means, but returns an error
  // that another attempt may mend.
  absl::Status Ended(const absl::Status& status);

  // A heartbeat, or the goodbye, is to be written next.
  void Beat() { beat_ = true; }
  void SayGoodbye() { leaving_ = true; }

  // Whether the peer has said Hello, and matches.
  bool connected() const { return connected_; }
  SilenceWatch& watch() { return watch_; }

 private:
  Message ChunkMessage(Piece piece);
  absl::Status Take(const ToSender& message);
  absl::Status Meet(const EdgeIdentity& peer);
  std::string PeerName() const;

  const Context context_;
  SilenceWatch watch_;
  bool hello_written_ = false;           // within Next
  std::atomic<bool> connected_ = false;  // the peer's Hello is checked
  std::atomic<bool> beat_ = false;
  std::atomic<bool> leaving_ = false;
  absl::Status violation_;  // by the peer; within Hear
};

class ReceivingEnd {
 public:
  struct Context {
    std::function<Round()> round;
    // Answers the caller and admits it, now, later or never. Called from Hear.
    std::function<void(EdgeIdentity caller)> on_hello;
    // The peer has said goodbye: the stream is to be ended in order. Called from Hear.
    std::function<void()> leave;
  };

  explicit ReceivingEnd(Context context) : context_(std::move(context)) {}

  // Answers the caller with `self`; heartbeats then go both ways, so that it may wait long for its
  // admission. Once.
  void AnswerHello(const EdgeIdentity& self);
  bool authenticated() const { return authenticated_; }
  // Takes the caller for the peer of `link`. Once. An error is the caller's violation: what it has
  // offered before could not be.
  absl::Status Admit(std::shared_ptr<PeerLink> link);
  bool admitted() const { return admitted_; }

  // What to write next; nullopt when there is nothing.
  std::optional<ToSender> Next();
  // A heartbeat is to be written.
  void Beat() { beat_ = true; }

  // Takes one message of `size` bytes. An error is the caller's violation, phrased to follow its
  // name.
  absl::Status Hear(google::protobuf::io::ZeroCopyInputStream* in, int64_t size);

  // Before Admit: `tick` has passed. DeadlineExceeded, phrased to follow its name, for a caller
  // that says no Hello, or has stopped sending heartbeats.
  absl::Status TickUnadmitted(std::chrono::milliseconds tick,
                              std::chrono::milliseconds peer_timeout);

  // After Admit, for the peer at `address`: it violated the protocol; the stream broke instead of
  // ending in order; `tick` has passed.
  absl::Status Violated(const absl::Status& how, const std::string& address);
  void Broke(const std::string& address);
  // The stream is over; what still comes of it is ignored.
  void Closed();
  void Tick(std::chrono::milliseconds tick, std::chrono::milliseconds peer_timeout,
            const std::string& address);

 private:
  absl::Status Meet(EdgeIdentity caller);
  absl::Status TakeOffer(const Offer& offer);
  absl::Status TakeChunk(const ChunkHeader& chunk, google::protobuf::io::CodedInputStream* data);

  const Context context_;
  SilenceWatch watch_;
  ToSender hello_;  // set once, before authenticated_
  std::atomic<bool> authenticated_ = false;
  std::shared_ptr<PeerLink> link_;  // set once, before admitted_
  std::atomic<bool> admitted_ = false;
  Mutex mutex_;
  std::vector<Offer> early_ ABSL_GUARDED_BY(mutex_);  // before the admission
  bool answered_ = false;                             // the Hello is written; within Next
  bool hello_heard_ = false;                          // within Hear
  std::atomic<bool> closed_ = false;
  std::atomic<bool> beat_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_CONVERSATION_H_
