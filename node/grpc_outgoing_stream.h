// One attempt at the stream that carries this node's vectors to one peer.
//
// The client's end of Gossip.Exchange: introduces this node, checks who
// answers, takes credits and writes chunks for them. gRPC keeps the object
// alive until the stream is over.
//
// Thread-safe.
#ifndef GRAPEVINE_NODE_GRPC_OUTGOING_STREAM_H_
#define GRAPEVINE_NODE_GRPC_OUTGOING_STREAM_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/client_callback.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "node/edge_identity.h"
#include "node/message_checksum.h"
#include "node/peer_link.h"
#include "node/silence_watch.h"
#include "node/wire_format.h"
#include "node/write_loop.h"

namespace grapevine {

class GrpcOutgoingStream final : public EdgeStream,
                                 public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                                 public std::enable_shared_from_this<GrpcOutgoingStream> {
 public:
  struct Context {
    EdgeIdentity self;
    std::shared_ptr<PeerLink> link;
    std::string address;
    std::shared_ptr<ChecksumsInFlight> checksums;
    std::function<Round()> round;
    // The stream is over for a reason that another attempt may mend.
    std::function<void(const absl::Status& why)> retry;
    // The stream is over; called last.
    std::function<void()> done;
  };

  explicit GrpcOutgoingStream(Context context);
  void Start(const std::shared_ptr<grpc::Channel>& channel);

  void Wake() override { writes_.Wake(); }
  void Abort(const absl::Status& why) override { Cancel(); }
  void Leave() override;
  void Cancel() { call_.TryCancel(); }

  // Sends a heartbeat soon.
  void Beat();
  bool connected() const { return connected_; }
  SilenceWatch& watch() { return watch_; }

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  bool WriteNext();
  bool Write(grpc::ByteBuffer message);
  grpc::ByteBuffer ChunkMessage(Piece piece);
  absl::Status Take(const ToSender& message);
  absl::Status Meet(const EdgeIdentity& peer);
  void Report(const grpc::Status& status);
  std::string PeerName() const;

  const Context context_;
  std::shared_ptr<GrpcOutgoingStream> self_;  // until gRPC is done with it
  grpc::ClientContext call_;
  WriteLoop writes_;
  grpc::ByteBuffer outgoing_;
  grpc::ByteBuffer incoming_;
  SilenceWatch watch_;
  bool introduced_ = false;              // the Hello is written; within the write loop
  std::atomic<bool> connected_ = false;  // the peer's Hello is checked
  std::atomic<bool> beat_ = false;
  std::atomic<bool> leaving_ = false;
  absl::Status violation_;  // by the peer; within reads
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_GRPC_OUTGOING_STREAM_H_
