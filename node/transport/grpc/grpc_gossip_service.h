// GrpcGossipService accepts the streams of callers on a node's server, among them a bounded number
// of unauthenticated ones, and keeps them until they end. edge_acceptor.h decides which callers are
// admitted.
//
// Thread-safe. Held by shared_ptr: streams refer to the service until they end. The service must
// outlive the server with which it is registered.
#ifndef GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_GOSSIP_SERVICE_H_
#define GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_GOSSIP_SERVICE_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/async_stream.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "node/identity/authentication.h"
#include "node/server/grpc_credentials.h"
#include "node/server/unproven_callers.h"
#include "node/transport/edge/conversation.h"
#include "node/transport/edge/edge_acceptor.h"
#include "node/transport/edge/edge_identity.h"
#include "node/transport/edge/peer_link.h"
#include "node/transport/edge/wire_format.h"
#include "node/transport/grpc/grpc_gossip.grpc.pb.h"
#include "node/transport/grpc/grpc_streams.h"
#include "node/transport/grpc/grpc_transport_options.h"
#include "node/transport/grpc/write_loop.h"
#include "system/mutex.h"

namespace grapevine {

class GrpcIncomingStream;

using RawGossip = gossip::Gossip::WithRawMethod_Exchange<gossip::Gossip::Service>;

// Decides about unauthenticated callers.
class GrpcStreamAcceptor {
 public:
  virtual ~GrpcStreamAcceptor() = default;
  // Takes a caller that has connected; returns false if it was rejected at once.
  virtual bool OnConnect(std::shared_ptr<GrpcIncomingStream> stream) = 0;
  // Admits the stream or rejects it.
  virtual void OnHello(std::shared_ptr<GrpcIncomingStream> stream, EdgeIdentity peer) = 0;
  // Rejects an unauthenticated caller; `why` is phrased to follow "an unauthenticated caller ".
  virtual void Reject(GrpcIncomingStream& stream, const absl::Status& why) = 0;
  // Forgets a stream that is over.
  virtual void OnClosed(GrpcIncomingStream* stream) = 0;
};

// A stream on which a caller sends to this node: the server's end of Gossip.Exchange. Until the
// caller is authenticated, the size and the duration of what it may send are bounded. Once
// admitted, the stream belongs to a peer's link. ReceivingEnd (edge/conversation.h) holds the
// conversation.
//
// Pending operations keep the stream alive.
class GrpcIncomingStream final : public EdgeCaller,
                                 public std::enable_shared_from_this<GrpcIncomingStream> {
 public:
  // `faults` may be null.
  GrpcIncomingStream(std::shared_ptr<GrpcStreamAcceptor> acceptor, RankNames names,
                     std::function<Round()> round, std::shared_ptr<EdgeFaults> faults);

  // Waits for a caller.
  void Await(RawGossip& service, GrpcQueue& queue);

  bool MayBe(Rank rank) const override { return IsCertified(names_, call_, rank); }
  void AnswerHello(const EdgeIdentity& self) override;
  void Admit(std::shared_ptr<PeerLink> link) override;
  std::string address() const override { return call_.peer(); }
  void Wake() override { writes_.Wake(); }
  void Abort(const absl::Status& why) override;
  void Leave() override;
  // Ends the stream without waiting for the caller to listen.
  void Cancel() { call_.TryCancel(); }

  // Records that `tick` has passed: watches for silence.
  void Tick(std::chrono::milliseconds tick, const GrpcTransportOptions& options);
  void Beat();
  bool authenticated() const { return talk_.authenticated(); }
  bool admitted() const { return talk_.admitted(); }

  // The number by which the service knows the stream; set once, before anything is read.
  UnprovenCallers::Caller caller = -1;

 private:
  void Accepted(bool ok);
  void ReadNext();
  void Read(bool ok);
  void Written(bool ok);
  void Finish();
  void Finished();
  bool WriteNext();
  // Sets the status with which the stream ends, unless the stream is ending already.
  void End(const absl::Status& why);
  void Violated(const absl::Status& how);
  void Disconnected();
  bool Ending();
  // Whether nothing may be written now. A stream that is ending is not held, since nothing would
  // write the rest later.
  bool Held() { return faults_ != nullptr && admitted() && !Ending() && faults_->Holds(peer_); }

  const std::shared_ptr<GrpcStreamAcceptor> acceptor_;
  const RankNames names_;
  const std::shared_ptr<EdgeFaults> faults_;
  std::atomic<Rank> peer_ = -1;  // set when the stream is admitted
  ReceivingEnd talk_;
  grpc::ServerContext call_;
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> stream_{&call_};
  GrpcTag accept_{[this](bool ok) { Accepted(ok); }};
  GrpcTag read_{[this](bool ok) { Read(ok); }};
  GrpcTag write_{[this](bool ok) { Written(ok); }};
  GrpcTag finish_{[this](bool) { Finished(); }};
  WriteLoop writes_{[this] { return WriteNext(); }, [this] { Finish(); }};
  grpc::ByteBuffer incoming_;

  Mutex mutex_;
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);      // set once the stream is ending
  std::chrono::milliseconds ending_ ABSL_GUARDED_BY(mutex_){0};  // time since then
};

class GrpcGossipService final : public GrpcStreamAcceptor,
                                public std::enable_shared_from_this<GrpcGossipService> {
 public:
  GrpcGossipService(GrpcTransportOptions options, std::shared_ptr<PeerLinks> links,
                    std::shared_ptr<StreamCount> streams, std::shared_ptr<GrpcQueue> queue);

  // Returns the service to register with the server.
  grpc::Service* service() { return &service_; }

  // Starts accepting callers, as `self`. Must be called once; callers that come earlier wait.
  void Open(const EdgeIdentity& self);
  // Keeps a place among the callers for `rank`, which listens at `address`, no matter what other
  // callers come.
  void KeepPlaceFor(Rank rank, const std::string& address);
  // Admits the ranks `neighbours` from now on.
  void Expect(std::span<const Rank> neighbours) { acceptor_.Expect(neighbours); }
  // Stops admitting `neighbour`.
  void Forget(Rank neighbour) { acceptor_.Forget(neighbour); }
  // Rejects all callers from now on, and those that still wait for admission.
  void Close();
  // Ends all streams without waiting for their callers.
  void Cancel();

  void Tick(std::chrono::milliseconds tick);
  void Beat();

  bool OnConnect(std::shared_ptr<GrpcIncomingStream> stream) override;
  void OnHello(std::shared_ptr<GrpcIncomingStream> stream, EdgeIdentity peer) override;
  void Reject(GrpcIncomingStream& stream, const absl::Status& why) override;
  void OnClosed(GrpcIncomingStream* stream) override;

 private:
  void AwaitNext();
  // A stream to reject, and the reason.
  struct Refusal {
    std::shared_ptr<GrpcIncomingStream> stream;
    absl::Status why;
  };
  std::optional<Refusal> Register(const std::shared_ptr<GrpcIncomingStream>& stream);
  std::vector<std::shared_ptr<GrpcIncomingStream>> Streams();

  RawGossip service_;
  const GrpcTransportOptions options_;
  EdgeAcceptor acceptor_;
  const std::shared_ptr<StreamCount> count_;
  const std::shared_ptr<GrpcQueue> queue_;
  Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  UnprovenCallers unproven_ ABSL_GUARDED_BY(mutex_);
  std::map<UnprovenCallers::Caller, std::shared_ptr<GrpcIncomingStream>> streams_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_GOSSIP_SERVICE_H_
