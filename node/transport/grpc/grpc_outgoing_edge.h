// GrpcOutgoingEdge is the outgoing connection to one peer. It dials the peer, retries until the
// peer answers, watches the connection, dials again when it breaks, and ends it in order.
//
// Thread-safe. Held by shared_ptr; pending operations and an open stream keep it alive.
#ifndef GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_OUTGOING_EDGE_H_
#define GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_OUTGOING_EDGE_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "node/transport/edge/conversation.h"
#include "node/transport/edge/edge_identity.h"
#include "node/transport/edge/peer_link.h"
#include "node/transport/edge/reconnection.h"
#include "node/transport/edge/wire_format.h"
#include "node/transport/grpc/grpc_streams.h"
#include "node/transport/grpc/grpc_transport_options.h"
#include "node/transport/grpc/write_loop.h"
#include "system/mutex.h"

namespace grapevine {

// One attempt at the stream that carries this node's vectors to one peer: the client's end of
// Gossip.Exchange. SendingEnd (edge/conversation.h) holds the conversation.
class GrpcOutgoingStream final : public EdgeStream,
                                 public std::enable_shared_from_this<GrpcOutgoingStream> {
 public:
  struct Context {
    SendingEnd::Context end;
    // Called when the stream has ended for a reason that may not last: another attempt may succeed.
    std::function<void(const absl::Status& why)> retry;
    // Called last, when the stream is over.
    std::function<void()> done;
    std::shared_ptr<EdgeFaults> faults;  // may be null
  };

  explicit GrpcOutgoingStream(Context context) : context_(std::move(context)), end_(context_.end) {}
  void Start(const std::shared_ptr<grpc::Channel>& channel, GrpcQueue& queue);

  void Wake() override { writes_.Wake(); }
  void Abort(const absl::Status& why) override { Cancel(); }
  void Leave() override;
  void Cancel() { call_.TryCancel(); }

  // Sends a heartbeat soon.
  void Beat();
  bool connected() const { return end_.connected(); }
  SilenceWatch& watch() { return end_.watch(); }

 private:
  void Started(bool ok);
  void ReadNext();
  void Read(bool ok);
  void Written(bool ok);
  void Finish();
  void Finished();
  bool WriteNext();
  // Returns the next message to write that the faults let through.
  std::optional<SendingEnd::Message> NextUnderFaults();

  const Context context_;
  SendingEnd end_;
  grpc::ClientContext call_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  GrpcTag start_{[this](bool ok) { Started(ok); }};
  GrpcTag read_{[this](bool ok) { Read(ok); }};
  GrpcTag write_{[this](bool ok) { Written(ok); }};
  GrpcTag finish_{[this](bool) { Finished(); }};
  WriteLoop writes_{[this] { return WriteNext(); }, [this] { Finish(); }};
  grpc::Status status_;
  grpc::ByteBuffer incoming_;
  std::atomic<bool> started_ = false;
  std::optional<SendingEnd::Message> dropped_;  // to be written later; within WriteNext
};

class GrpcOutgoingEdge : public std::enable_shared_from_this<GrpcOutgoingEdge> {
 public:
  struct Context {
    EdgeIdentity self;
    GrpcTransportOptions options;
    std::shared_ptr<PeerLink> link;
    std::string address;
    std::shared_ptr<ChecksumsInFlight> checksums;
    std::shared_ptr<StreamCount> streams;
    std::shared_ptr<GrpcQueue> queue;
  };

  explicit GrpcOutgoingEdge(Context context);

  // Begins an attempt to connect.
  void Dial();
  // Records that `tick` has passed: retries the connection, and watches for silence.
  void Tick(std::chrono::milliseconds tick);
  // Returns "rank 3 (10.0.0.4:29500: connection refused)" while the edge is trying to connect;
  // empty otherwise.
  std::string Connecting();
  Rank peer() const { return context_.link->peer(); }
  // Whether nothing more goes over this edge: the peer has left or was given up, or this node has
  // left.
  bool over() { return context_.link->outgoing_over(); }
  bool connected();
  // Sends a heartbeat.
  void Beat();
  // Ends the stream at once.
  void Cancel();

 private:
  void NotConnected(std::chrono::milliseconds tick);
  // Breaks the connection. The edge makes no other while it is cut.
  void Cut(GrpcOutgoingStream& current);
  std::shared_ptr<GrpcOutgoingStream> stream();

  const Context context_;
  const std::shared_ptr<grpc::Channel> channel_;
  DialAttempts attempts_;
  uint64_t calls_ = 0;  // number of calls so far; within Dial, which runs one at a time
  Mutex mutex_;
  std::shared_ptr<GrpcOutgoingStream> stream_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_OUTGOING_EDGE_H_
