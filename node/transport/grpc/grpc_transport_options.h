// What can be set about the gRPC transport. Plain values.
#ifndef GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_TRANSPORT_OPTIONS_H_
#define GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_TRANSPORT_OPTIONS_H_

#include <grpcpp/security/credentials.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/ids.h"
#include "node/identity/run_token.h"

namespace grapevine {

struct GrpcTransportOptions {
  // A peer from which nothing was heard for so long has failed (--peer-timeout).
  std::chrono::milliseconds peer_timeout{30000};
  // How long to try to reach a peer, and to wait for one to come (--rendezvous-timeout).
  std::chrono::milliseconds connect_timeout{60000};
  // Data in one gRPC message, at most kMaxChunkBytes.
  int64_t chunk_bytes = 1 << 20;
  static constexpr int64_t kMaxChunkBytes = 3 << 20;
  // For outgoing connections; plain text when null.
  std::shared_ptr<grpc::ChannelCredentials> credentials;
  // What the nodes of the run share; strangers do not have it.
  RunToken token = {};
  // The round this node is in, for heartbeats; from any thread, without blocking.
  std::function<Round()> round = [] { return Round{0}; };
  // Streams that have not introduced themselves, at most.
  int max_unknown_streams = 32;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_TRANSPORT_OPTIONS_H_
