// A stream on which somebody sends to this node: the server's end of
// Gossip.Exchange.
//
// Until it is greeted it is a stranger's, bounded in what it may send and
// for how long; once admitted it belongs to a peer's link. What is said on it is
// receiving_end.h's.
//
// Thread-safe. Operations underway keep it alive.
#ifndef GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_INCOMING_STREAM_H_
#define GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_INCOMING_STREAM_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "node/transport/edge/edge_door.h"
#include "node/transport/edge/edge_identity.h"
#include "node/transport/edge/peer_link.h"
#include "node/transport/edge/receiving_end.h"
#include "node/transport/edge/wire_format.h"
#include "node/transport/grpc/grpc_gossip.grpc.pb.h"
#include "node/transport/grpc/grpc_queue.h"
#include "node/transport/grpc/grpc_transport_options.h"
#include "node/transport/grpc/write_loop.h"
#include "system/mutex.h"

namespace grapevine {

class GrpcIncomingStream;

using RawGossip = gossip::Gossip::WithRawMethod_Exchange<gossip::Gossip::Service>;

// Who decides about strangers.
class GrpcStreamAcceptor {
 public:
  virtual ~GrpcStreamAcceptor() = default;
  // A caller has come; false when it was rejected at once.
  virtual bool OnConnect(std::shared_ptr<GrpcIncomingStream> stream) = 0;
  // Admits the stream or rejects it.
  virtual void Introduce(std::shared_ptr<GrpcIncomingStream> stream, EdgeIdentity peer) = 0;
  // Rejects a stranger; `why` fits behind "stranger ".
  virtual void Reject(GrpcIncomingStream& stream, const absl::Status& why) = 0;
  // The stream is over.
  virtual void OnClosed(GrpcIncomingStream* stream) = 0;
};

class GrpcIncomingStream final : public EdgeCaller,
                                 public std::enable_shared_from_this<GrpcIncomingStream> {
 public:
  GrpcIncomingStream(std::shared_ptr<GrpcStreamAcceptor> acceptor, std::function<Round()> round);

  // Waits for a caller.
  void Await(RawGossip& service, GrpcQueue& queue);

  void Greet(const EdgeIdentity& self) override;
  void Admit(std::shared_ptr<PeerLink> link) override;
  std::string address() const override { return call_.peer(); }
  void Wake() override { writes_.Wake(); }
  void Abort(const absl::Status& why) override;
  void Leave() override { Abort(absl::OkStatus()); }
  // Ends it without waiting for the caller to listen.
  void Cancel() { call_.TryCancel(); }

  // `tick` has passed: watches for silence.
  void Tick(std::chrono::milliseconds tick, const GrpcTransportOptions& options);
  void Beat();
  bool greeted() const { return talk_.greeted(); }
  bool admitted() const { return talk_.admitted(); }

 private:
  void Accepted(bool ok);
  void ReadNext();
  void Read(bool ok);
  void Written(bool ok);
  void Finish();
  bool WriteNext();
  void Violated(const absl::Status& how);
  void Disconnected();
  bool Ending();

  const std::shared_ptr<GrpcStreamAcceptor> acceptor_;
  ReceivingEnd talk_;
  grpc::ServerContext call_;
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> stream_{&call_};
  GrpcTag accept_{[this](bool ok) { Accepted(ok); }};
  GrpcTag read_{[this](bool ok) { Read(ok); }};
  GrpcTag write_{[this](bool ok) { Written(ok); }};
  GrpcTag finish_{[this](bool) { acceptor_->OnClosed(this); }};
  WriteLoop writes_{[this] { return WriteNext(); }, [this] { Finish(); }};
  grpc::ByteBuffer incoming_;

  Mutex mutex_;
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);      // set when it is ending
  std::chrono::milliseconds ending_ ABSL_GUARDED_BY(mutex_){0};  // for how long
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_INCOMING_STREAM_H_
