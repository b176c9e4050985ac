// The door of a node: accepts the streams of its peers, turns strangers away.
//
// Thread-safe. Held by shared_ptr: streams refer to it until they are over. It
// must outlive the server that it is registered with.
#ifndef GRAPEVINE_NODE_GRPC_GOSSIP_SERVICE_H_
#define GRAPEVINE_NODE_GRPC_GOSSIP_SERVICE_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "node/edge_identity.h"
#include "node/grpc_gossip.grpc.pb.h"
#include "node/grpc_incoming_stream.h"
#include "node/grpc_transport_options.h"
#include "node/peer_links.h"
#include "node/stream_count.h"
#include "system/mutex.h"

namespace grapevine {

class GrpcGossipService final
    : public gossip::Gossip::WithRawCallbackMethod_Exchange<gossip::Gossip::Service>,
      public GrpcDoorkeeper,
      public std::enable_shared_from_this<GrpcGossipService> {
 public:
  GrpcGossipService(GrpcTransportOptions options, std::shared_ptr<PeerLinks> links,
                    std::shared_ptr<StreamCount> streams);

  // From now on this node is `self`: peers that came early are admitted.
  void Join(const EdgeIdentity& self);
  // Turns away whoever comes from now on, and strangers.
  void Leave();
  // Ends all streams without waiting for anybody.
  void Cancel();

  void Tick(std::chrono::milliseconds tick);
  void Beat();

  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Exchange(
      grpc::CallbackServerContext* call) override;
  void Introduce(std::shared_ptr<GrpcIncomingStream> stream, EdgeIdentity peer) override;
  void TurnAway(GrpcIncomingStream& stream, const absl::Status& why) override;
  void Gone(GrpcIncomingStream* stream) override;

 private:
  enum class State { kWaiting, kJoined, kLeft };

  void Decide(const std::shared_ptr<GrpcIncomingStream>& stream, const EdgeIdentity& self,
              const EdgeIdentity& peer);
  std::vector<std::shared_ptr<GrpcIncomingStream>> Streams();
  int Strangers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const GrpcTransportOptions options_;
  const std::shared_ptr<PeerLinks> links_;
  const std::shared_ptr<StreamCount> count_;
  Mutex mutex_;
  State state_ ABSL_GUARDED_BY(mutex_) = State::kWaiting;
  EdgeIdentity self_ ABSL_GUARDED_BY(mutex_);
  std::map<GrpcIncomingStream*, std::shared_ptr<GrpcIncomingStream>> streams_
      ABSL_GUARDED_BY(mutex_);
  // Came before Join.
  std::vector<std::pair<std::shared_ptr<GrpcIncomingStream>, EdgeIdentity>> early_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_GRPC_GOSSIP_SERVICE_H_
