// The settings of the gRPC transport, and the gRPC arguments that follow from them. The choices are
// measured; see docs/transport.md.
//
// Plain values and pure functions, except EdgeFaults.
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

// Faults that are put into a node's edges on purpose (--chaos). A transport with faults asks them
// before it writes to a peer. Thread-safe.
class EdgeFaults {
 public:
  virtual ~EdgeFaults() = default;
  // Whether the connection to `peer` breaks and no other is made. Asked at every tick of the
  // transport.
  virtual bool Cuts(Rank peer) = 0;
  // Whether nothing may be written to `peer`. Asked again at the next tick.
  virtual bool Holds(Rank peer) = 0;
  // Whether a chunk, and everything behind it, is held until its packets would have been sent
  // again. Asked once for each chunk.
  virtual bool Drops(Rank peer) = 0;
  // Whether one bit of a chunk is flipped. Asked once for each chunk.
  virtual bool Corrupts(Rank peer) = 0;
};

struct GrpcTransportOptions {
  // A peer that has been silent for this long has failed (--peer-timeout).
  std::chrono::milliseconds peer_timeout{30000};
  // The time to try to reach a peer, and to wait for a peer to come (--rendezvous-timeout).
  std::chrono::milliseconds connect_timeout{60000};
  // Bytes of data in one gRPC message; at most kMaxChunkBytes.
  int64_t chunk_bytes = 1 << 20;
  static constexpr int64_t kMaxChunkBytes = 3 << 20;
  // Credentials of outgoing connections; null for plain text.
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  // The names by which certificates name ranks.
  RankNames names = {};
  // The secret that the nodes of the run share.
  RunToken token = {};
  // Returns the round that this node is in, for heartbeats. Called from any thread; must not block.
  std::function<Round()> round = [] { return Round{0}; };
  // The largest number of streams whose callers are not authenticated. As many again may come from
  // hosts of the run (UnprovenCallers).
  int max_unknown_streams = 32;
  // Faults to put in on purpose; null for none.
  std::shared_ptr<EdgeFaults> faults = nullptr;
};

// Returns the arguments of a connection to `address` (host:port).
grpc::ChannelArguments TransportChannelArguments(const std::string& address,
                                                 std::chrono::milliseconds peer_timeout);

// Sets the arguments of a server with a transport, and possibly other services. `loopback` says
// that the server listens on loopback only. Bounds what unauthenticated callers can make the server
// hold.
void ApplyServerArguments(grpc::ServerBuilder& builder, bool loopback);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_TRANSPORT_OPTIONS_H_
