// GrpcTransport moves vectors between nodes over gRPC, on one stream for each direction between two
// neighbours. See docs/transport.md.
//
// Lifetime: construct; AddTo the builder of the node's server; start the server; Join when the run
// is known; use as Transport; Shutdown; shut the server down; destroy the transport; destroy the
// server. gRPC requires this order of objects that share a server's completion queue.
//
// Thread-safe. The sink must live until Shutdown has returned.
#ifndef GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_TRANSPORT_H_
#define GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_TRANSPORT_H_

#include <grpcpp/server_builder.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "node/transport/edge/edge_identity.h"
#include "node/transport/edge/peer_link.h"
#include "node/transport/edge/wire_format.h"
#include "node/transport/grpc/grpc_gossip_service.h"
#include "node/transport/grpc/grpc_outgoing_edge.h"
#include "node/transport/grpc/grpc_streams.h"
#include "node/transport/grpc/grpc_transport_options.h"
#include "node/transport/transport.h"
#include "system/mutex.h"

namespace grapevine {

class GrpcTransport : public Transport {
 public:
  // `self` is the identity of this node; Join sets its run_id.
  GrpcTransport(EdgeIdentity self, GrpcTransportOptions options, TransportSink* sink);
  ~GrpcTransport() override;

  // Registers the service, which shows in reflection. The builder also needs ApplyServerArguments.
  void AddTo(grpc::ServerBuilder& builder);

  // Sets the run that this node belongs to and the addresses (host:port) at which its ranks listen.
  // Must be called once, after the server has started and before Dial, Send and Post. Peers that
  // call earlier wait until then.
  void Join(std::string run_id, std::vector<std::string> addresses);

  void Dial(std::span<const Rank> peers) override;
  absl::Status Send(Rank to, Tag tag, Outgoing message) override;
  absl::Status Post(Rank from, Tag tag, Incoming buffer) override;
  absl::Status Decline(Rank from, Tag tag) override;
  absl::Status Withdraw(Rank from, Tag tag) override;
  void GiveUp(Rank peer, const absl::Status& why) override;
  // Tells which process the peer is and where it listens. Must be called before TakeIn(peer).
  void Expect(Rank peer, uint64_t process, std::string address);
  void TakeIn(Rank peer) override;
  // Returns the first of the peers that the transport is trying to reach, and the outcome so far;
  // empty if all dialled peers are connected.
  std::string Connecting();
  // Returns, for each neighbour that this node sends to, whether it is connected. Leaves out an
  // edge once either end has left or the neighbour was given up.
  std::map<Rank, bool> Connected();
  TransportCounters counters() const override { return links_->counters(); }
  // Waits up to a second for peers to hear the end of what was sent.
  void Shutdown() override;

 private:
  absl::Status EnsureDialled(Rank peer);
  std::vector<std::shared_ptr<GrpcOutgoingEdge>> Edges();
  // Runs the monitor's thread: sends heartbeats, retries connections and detects silence.
  void Monitor();
  bool AwaitTick();
  void Tick();
  void StopMonitor() ABSL_EXCLUSIVE_LOCKS_REQUIRED(shutdown_);

  EdgeIdentity self_;
  const GrpcTransportOptions options_;
  const std::chrono::milliseconds tick_;
  const std::shared_ptr<SinkGate> gate_;
  const std::shared_ptr<PeerLinks> links_;
  const std::shared_ptr<StreamCount> streams_;
  const std::shared_ptr<ChecksumsInFlight> checksums_;
  const std::shared_ptr<GrpcQueue> queue_;
  const std::shared_ptr<GrpcGossipService> service_;

  Mutex mutex_;
  std::vector<std::string> addresses_ ABSL_GUARDED_BY(mutex_);
  struct Newcomer {
    uint64_t process;
    std::string address;
  };
  std::map<Rank, Newcomer> newcomers_ ABSL_GUARDED_BY(mutex_);  // expected, but not taken in yet
  // Null for a peer that was given up, so that what its last call has not sent is kept no longer.
  std::map<Rank, std::shared_ptr<GrpcOutgoingEdge>> edges_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Condition stop_;

  Mutex shutdown_;
  std::thread monitor_ ABSL_GUARDED_BY(shutdown_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_TRANSPORT_H_
