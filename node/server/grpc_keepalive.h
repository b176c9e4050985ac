// Keepalive pings, matched on both sides: a server that allows fewer pings than its clients send
// closes their connections ("too many pings").
//
// Pings detect a connection that was lost silently (a cut cable). Heartbeats detect a process that
// has stopped; see coordinator.h.
#ifndef GRAPEVINE_NODE_SERVER_GRPC_KEEPALIVE_H_
#define GRAPEVINE_NODE_SERVER_GRPC_KEEPALIVE_H_

#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>

#include <chrono>

namespace grapevine {

// Turns keepalive pings on. `timeout` is the peer time-out: a ping that stays unanswered for that
// long breaks the connection. A channel retries refused connections, and names that do not resolve,
// within a second.
void SetKeepalive(std::chrono::milliseconds timeout, grpc::ChannelArguments* arguments);
void SetKeepalive(std::chrono::milliseconds timeout, grpc::ServerBuilder* builder);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_GRPC_KEEPALIVE_H_
