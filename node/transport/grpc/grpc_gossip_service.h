// The door of a node on its server: takes the streams of callers, so many strangers at most,
// and keeps them until they are over. Who is let in is edge_door.h's.
//
// Thread-safe. Held by shared_ptr: streams refer to it until they are over. It
// must outlive the server that it is registered with.
#ifndef GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_GOSSIP_SERVICE_H_
#define GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_GOSSIP_SERVICE_H_

#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "node/transport/edge/edge_door.h"
#include "node/transport/edge/edge_identity.h"
#include "node/transport/edge/peer_links.h"
#include "node/transport/grpc/grpc_incoming_stream.h"
#include "node/transport/grpc/grpc_queue.h"
#include "node/transport/grpc/grpc_transport_options.h"
#include "node/transport/grpc/stream_count.h"
#include "system/mutex.h"

namespace grapevine {

class GrpcGossipService final : public GrpcStreamAcceptor,
                                public std::enable_shared_from_this<GrpcGossipService> {
 public:
  GrpcGossipService(GrpcTransportOptions options, std::shared_ptr<PeerLinks> links,
                    std::shared_ptr<StreamCount> streams, std::shared_ptr<GrpcQueue> queue);

  // What to register with the server.
  grpc::Service* service() { return &service_; }

  // Begins to take callers, as `self`; once. Who came earlier has waited.
  void Open(const EdgeIdentity& self);
  // These ranks may come in from now on.
  void Expect(std::span<const Rank> neighbours) { door_.Expect(neighbours); }
  // Rejects whoever comes from now on, and who is still at the door.
  void Close();
  // Ends all streams without waiting for anybody.
  void Cancel();

  void Tick(std::chrono::milliseconds tick);
  void Beat();

  bool OnConnect(std::shared_ptr<GrpcIncomingStream> stream) override;
  void Introduce(std::shared_ptr<GrpcIncomingStream> stream, EdgeIdentity peer) override;
  void Reject(GrpcIncomingStream& stream, const absl::Status& why) override;
  void OnClosed(GrpcIncomingStream* stream) override;

 private:
  void AwaitNext();
  absl::Status Register(const std::shared_ptr<GrpcIncomingStream>& stream);
  std::vector<std::shared_ptr<GrpcIncomingStream>> Streams();

  RawGossip service_;
  const GrpcTransportOptions options_;
  EdgeDoor door_;
  const std::shared_ptr<StreamCount> count_;
  const std::shared_ptr<GrpcQueue> queue_;
  Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<GrpcIncomingStream*, std::shared_ptr<GrpcIncomingStream>> streams_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_GOSSIP_SERVICE_H_
