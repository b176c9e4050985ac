// How the transport's gRPC connections are set up: measured choices, see
// docs/transport.md.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_ARGUMENTS_H_
#define GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_ARGUMENTS_H_

#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

#include <chrono>
#include <string>

namespace grapevine {

// For a connection to `address` (host:port).
grpc::ChannelArguments TransportChannelArguments(const std::string& address,
                                                 std::chrono::milliseconds peer_timeout);

// For a server with a transport, and possibly other services, that listens on
// loopback only or not. Bounds what strangers can make it hold.
void ApplyServerArguments(grpc::ServerBuilder& builder, bool loopback);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_ARGUMENTS_H_
