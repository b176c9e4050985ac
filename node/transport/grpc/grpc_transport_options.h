// The settings of the gRPC transport, and the gRPC arguments that follow from them: measured
// choices, see docs/transport.md.
//
// Plain values and pure functions, but for EdgeFaults.
#ifndef GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_TRANSPORT_OPTIONS_H_
#define GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_TRANSPORT_OPTIONS_H_

#include <grpcpp/security/credentials.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/ids.h"
#include "node/identity/authentication.h"

namespace grapevine {

// What is wrong with a node's edges on purpose (--chaos), asked before it writes to a peer.
//
// A transport that has none asks nothing. Thread-safe.
class EdgeFaults {
 public:
  virtual ~EdgeFaults() = default;
  // The connection to `peer` breaks, and no other is made; asked at every tick of the transport.
  virtual bool Cuts(Rank peer) = 0;
  // Nothing is written to `peer`; asked again at the next tick.
  virtual bool Holds(Rank peer) = 0;
  // Once for each chunk: it is held until its packets would have been sent again, and all behind
  // it; and one of its bits is flipped.
  virtual bool Drops(Rank peer) = 0;
  virtual bool Corrupts(Rank peer) = 0;
};

struct GrpcTransportOptions {
  // A peer that has been silent for this long has failed (--peer-timeout).
  std::chrono::milliseconds peer_timeout{30000};
  // How long to try to reach a peer, and to wait for one to come (--rendezvous-timeout).
  std::chrono::milliseconds connect_timeout{60000};
  // Data in one gRPC message, at most kMaxChunkBytes.
  int64_t chunk_bytes = 1 << 20;
  static constexpr int64_t kMaxChunkBytes = 3 << 20;
  // For outgoing connections; plain text when null.
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  // By which certificates name ranks.
  RankNames names = {};
  // The secret that the nodes of the run share.
  RunToken token = {};
  // The round this node is in, for heartbeats; from any thread, without blocking.
  std::function<Round()> round = [] { return Round{0}; };
  // The most streams whose callers are not authenticated, and as many again from hosts of the run
  // (UnprovenCallers).
  int max_unknown_streams = 32;
  // What goes wrong on purpose; null: nothing.
  std::shared_ptr<EdgeFaults> faults = nullptr;
};

// For a connection to `address` (host:port).
grpc::ChannelArguments TransportChannelArguments(const std::string& address,
                                                 std::chrono::milliseconds peer_timeout);

// For a server with a transport, and possibly other services, that listens on loopback only if
// `loopback`. Bounds what unauthenticated callers can make it hold.
void ApplyServerArguments(grpc::ServerBuilder& builder, bool loopback);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_TRANSPORT_OPTIONS_H_
