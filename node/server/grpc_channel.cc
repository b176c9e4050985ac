#include "node/server/grpc_channel.h"

#include <grpcpp/create_channel.h>

namespace grapevine {

std::shared_ptr<grpc::Channel> DirectChannel(
    const std::string& address, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
    grpc::ChannelArguments arguments) {
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, credentials, arguments);
}

}  // namespace grapevine
