// Keepalive pings, matched on both sides: a server that allows fewer pings than
// its clients send closes their connections ("too many pings").
//
// Pings find a connection that is gone without a word (a cut cable); a process
// that stands still is found by heartbeats, see coordinator.h.
#ifndef GRAPEVINE_NODE_SERVER_GRPC_KEEPALIVE_H_
#define GRAPEVINE_NODE_SERVER_GRPC_KEEPALIVE_H_

#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

#include <chrono>

namespace grapevine {

// `timeout` is the peer time-out: a ping unanswered for so long breaks the
// connection. Connections that are refused are tried again within a second,
// and names that do not resolve are asked for again as soon.
void SetKeepalive(std::chrono::milliseconds timeout, grpc::ChannelArguments* arguments);
void SetKeepalive(std::chrono::milliseconds timeout, grpc::ServerBuilder* builder);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_GRPC_KEEPALIVE_H_
