// The receiver's end of the conversation on one edge, without the wire: hears who
// calls, greets whom it believes, and once that is admitted, announces credits and
// copies chunks to where they were posted.
//
// Thread-safe as a stream uses it: Next never twice at a time, nor Hear; the rest
// from any thread.
#ifndef GRAPEVINE_NODE_TRANSPORT_EDGE_RECEIVING_END_H_
#define GRAPEVINE_NODE_TRANSPORT_EDGE_RECEIVING_END_H_

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "node/transport/edge/edge_identity.h"
#include "node/transport/edge/peer_link.h"
#include "node/transport/edge/silence_watch.h"
#include "node/transport/edge/wire_format.h"

namespace grapevine {

class ReceivingEnd {
 public:
  struct Context {
    std::function<Round()> round;
    // Greets the caller and admits it, now, later or never. Called from Hear.
    std::function<void(EdgeIdentity caller)> introduce;
    // The peer has said goodbye: the stream is to be ended in order. Called from Hear.
    std::function<void()> leave;
  };

  explicit ReceivingEnd(Context context) : context_(std::move(context)) {}

  // Answers the caller with `self`: heartbeats go both ways, so that it may wait for
  // long until it is admitted. Once.
  void Greet(const EdgeIdentity& self);
  bool greeted() const { return greeted_; }
  // Takes the caller for the peer of `link`. Once.
  void Admit(std::shared_ptr<PeerLink> link);
  bool admitted() const { return admitted_; }

  // What to write next; nullopt when there is nothing.
  std::optional<ToSender> Next();
  // A heartbeat is to be written.
  void Beat() { beat_ = true; }

  // Takes one message of `size` bytes. An error is the caller's violation, in words
  // that fit behind its name.
  absl::Status Hear(google::protobuf::io::ZeroCopyInputStream* in, int64_t size);

  // Before Admit: `tick` has passed. DeadlineExceeded, in words that fit behind its name, for
  // who does not say who it is, or has stopped to beat.
  absl::Status TickAtDoor(std::chrono::milliseconds tick, std::chrono::milliseconds peer_timeout);

  // After Admit, of the peer at `address`: it broke the protocol; the stream broke,
  // and was not ended; `tick` has passed.
  absl::Status Violated(const absl::Status& how, const std::string& address);
  void Broke(const std::string& address);
  void Tick(std::chrono::milliseconds tick, std::chrono::milliseconds peer_timeout,
            const std::string& address);

 private:
  absl::Status Meet(EdgeIdentity caller);
  absl::Status TakeChunk(const ChunkHeader& chunk, google::protobuf::io::CodedInputStream* data);

  const Context context_;
  SilenceWatch watch_;
  ToSender hello_;  // set once, before greeted_
  std::atomic<bool> greeted_ = false;
  std::shared_ptr<PeerLink> link_;  // set once, before admitted_
  std::atomic<bool> admitted_ = false;
  bool answered_ = false;    // the Hello is written; within Next
  bool introduced_ = false;  // a Hello has come; within Hear
  std::atomic<bool> beat_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_RECEIVING_END_H_
