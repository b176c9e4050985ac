// The sender's end of the conversation on one edge, without the wire: introduces
// this node, checks who answers, takes credits, and says what to write next.
//
// Thread-safe as a stream uses it: Next never twice at a time, nor Hear; the rest
// from any thread.
#ifndef GRAPEVINE_NODE_TRANSPORT_EDGE_SENDING_END_H_
#define GRAPEVINE_NODE_TRANSPORT_EDGE_SENDING_END_H_

#include <google/protobuf/io/zero_copy_stream.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "node/identity/run_token.h"
#include "node/transport/edge/edge_identity.h"
#include "node/transport/edge/message_checksum.h"
#include "node/transport/edge/peer_link.h"
#include "node/transport/edge/silence_watch.h"
#include "node/transport/edge/wire_format.h"

namespace grapevine {

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

  // The next message, of which a chunk's data are apart; nullopt when there is nothing
  // to write.
  struct Message {
    std::string bytes;
    SharedBytes data;  // none where it is of size 0
  };
  std::optional<Message> Next();

  // Takes one message of `size` bytes from the peer. An error is the peer's violation,
  // and the stream is to be ended.
  absl::Status Hear(google::protobuf::io::ZeroCopyInputStream* in, int64_t size);

  // The stream is over, with this status. What it means is told to the link; but what
  // another attempt may mend comes back.
  absl::Status Ended(const absl::Status& status);

  // A heartbeat, or the goodbye, is to be written next.
  void Beat() { beat_ = true; }
  void SayGoodbye() { leaving_ = true; }

  // Whether the peer has introduced itself, and fits.
  bool connected() const { return connected_; }
  SilenceWatch& watch() { return watch_; }

 private:
  Message ChunkMessage(Piece piece);
  absl::Status Take(const ToSender& message);
  absl::Status Meet(const EdgeIdentity& peer);
  std::string PeerName() const;

  const Context context_;
  SilenceWatch watch_;
  bool introduced_ = false;              // the Hello is written; within Next
  std::atomic<bool> connected_ = false;  // the peer's Hello is checked
  std::atomic<bool> beat_ = false;
  std::atomic<bool> leaving_ = false;
  absl::Status violation_;  // by the peer; within Hear
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_SENDING_END_H_
