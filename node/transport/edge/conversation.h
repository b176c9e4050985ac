// The handshake and the traffic of one edge, without the wire. SendingEnd says Hello, checks the
// node that answers, takes credits and says what to write next. ReceivingEnd hears the caller,
// answers it once it is authenticated and, once it is admitted, announces credits and copies chunks
// into the posted buffers. Each end watches the other for silence.
//
// Thread-safety: at most one call of Next, and at most one call of Hear or Closed, may run at a
// time. All other methods may be called from any thread.
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

// SilenceWatch tells a peer that has stopped from one that is slow: it measures the time since the
// peer was last heard. Time passes in ticks of this node's own clock, so that a node that was
// itself stopped does not blame its peers on waking up.
//
// Thread-safe: the stream's thread calls Heard, the monitor's thread the rest.
class SilenceWatch {
 public:
  // Records that something has arrived from the peer.
  void Heard() { quiet_ms_ = 0; }
  // Records that the peer said that it is in `round`, or sent a message that was posted for
  // `round`; -1 if the round is not known.
  void HeardRound(Round round) { round_ = std::max(round_.load(), round); }

  // Records that `tick` has passed; returns the silence so far.
  std::chrono::milliseconds Tick(std::chrono::milliseconds tick) {
    return std::chrono::milliseconds(quiet_ms_ += tick.count());
  }

  // Returns "last heard 4.1 s ago in round 812".
  std::string Describe() const;

 private:
  static constexpr Round kNoRound = -1;
  std::atomic<int64_t> quiet_ms_ = 0;
  std::atomic<Round> round_ = kNoRound;
};

// Returns the failure of a peer that was silent for `timeout`.
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

  // An encoded message, with a chunk's data kept apart.
  struct Message {
    std::string bytes;
    SharedBytes data;  // none if its size is 0
  };
  // Returns the next message to write; nullopt if nothing is to be written.
  std::optional<Message> Next();

  // Takes one message of `size` bytes from the peer. An error is the peer's violation, which must
  // end the stream.
  absl::Status Hear(google::protobuf::io::ZeroCopyInputStream* in, int64_t size);

  // Takes the status with which the stream has ended, and tells the link what it means. Returns an
  // error that another attempt to connect may mend, if the status is one.
  absl::Status Ended(const absl::Status& status);

  // Makes a heartbeat the next message to write.
  void Beat() { beat_ = true; }
  // Makes the goodbye the next message to write.
  void SayGoodbye() { leaving_ = true; }

  // Whether the peer has said a Hello that matches.
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
  std::atomic<bool> connected_ = false;  // whether the peer's Hello is checked
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
    // Ends the stream in order, because the peer has said goodbye. Called from Hear.
    std::function<void()> leave;
  };

  explicit ReceivingEnd(Context context) : context_(std::move(context)) {}

  // Answers the caller with `self`. Heartbeats then go both ways, so that the caller may wait long
  // for its admission. Must be called at most once.
  void AnswerHello(const EdgeIdentity& self);
  bool authenticated() const { return authenticated_; }
  // Admits the caller as the peer of `link`. Must be called at most once. An error is the caller's
  // violation: an offer that it made before its admission breaks the protocol.
  absl::Status Admit(std::shared_ptr<PeerLink> link);
  bool admitted() const { return admitted_; }

  // Returns what to write next; nullopt if nothing is to be written.
  std::optional<ToSender> Next();
  // Asks for a heartbeat to be written.
  void Beat() { beat_ = true; }

  // Takes one message of `size` bytes. An error is the caller's violation, phrased to follow the
  // caller's name.
  absl::Status Hear(google::protobuf::io::ZeroCopyInputStream* in, int64_t size);

  // Records, before Admit, that `tick` has passed. Returns DeadlineExceeded, phrased to follow the
  // caller's name, for a caller that says no Hello or has stopped sending heartbeats.
  absl::Status TickUnadmitted(std::chrono::milliseconds tick,
                              std::chrono::milliseconds peer_timeout);

  // Violated, Broke and Tick may be called only after Admit; `address` is the peer's. Violated
  // reports that the peer violated the protocol, Broke that the stream broke instead of ending in
  // order, and Tick that `tick` has passed.
  absl::Status Violated(const absl::Status& how, const std::string& address);
  void Broke(const std::string& address);
  // Reports that the stream is over; whatever still comes from it is ignored.
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
  std::vector<Offer> early_ ABSL_GUARDED_BY(mutex_);  // offers made before the admission
  bool answered_ = false;                             // whether the Hello is written; within Next
  bool hello_heard_ = false;                          // within Hear
  std::atomic<bool> closed_ = false;
  std::atomic<bool> beat_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_CONVERSATION_H_
