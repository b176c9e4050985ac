// DirectChannel is the only way in which a node dials: straight to the other end.
//
// By itself gRPC goes through the proxy that the environment names (http_proxy, https_proxy,
// grpc_proxy), even to 127.0.0.1. Such a proxy is for the web: it does not know the nodes, and
// would carry a model in each round.
//
// Thread-safe.
#ifndef GRAPEVINE_NODE_SERVER_GRPC_CHANNEL_H_
#define GRAPEVINE_NODE_SERVER_GRPC_CHANNEL_H_

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <memory>
#include <string>

namespace grapevine {

// Returns a channel to `address`, which connects at the first call.
std::shared_ptr<grpc::Channel> DirectChannel(
    const std::string& address, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    grpc::ChannelArguments arguments);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_GRPC_CHANNEL_H_
