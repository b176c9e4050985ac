#include "node/server/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "node/server/grpc_keepalive.h"
#include "node/server/grpc_reflection_limit.h"
#include "node/server/listening_sockets.h"

namespace grapevine {
namespace {

// What strangers may make a server hold.
void BoundStrangers(const GrpcServerOptions& options, grpc::ServerBuilder& builder) {
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             static_cast<int>(options.handshake_timeout.count()));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             static_cast<int>(options.idle_timeout.count()));
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> limits;
  limits.push_back(std::make_unique<GrpcReflectionLimit>());
  builder.experimental().SetInterceptorCreators(std::move(limits));
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const GrpcServerOptions& options,
                                                              const GrpcCredentials& credentials,
                                                              std::span<const Register> services) {
  ASSIGN_OR_RETURN(std::shared_ptr<grpc::ServerCredentials> server_credentials,
                   credentials.ForServer(options.bind.host));

  ASSIGN_OR_RETURN(ListeningSockets sockets, ListenOn(options.bind, options.peer_timeout));
  const HostAddress address{options.bind.host, sockets.port};

  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  SetKeepalive(options.peer_timeout, &builder);
  BoundStrangers(options, builder);
  ASSIGN_OR_RETURN(
      std::unique_ptr<GrpcAcceptor> door,
      GrpcAcceptor::Make(std::move(sockets), GrpcAcceptor::MaxDescriptors(options.nodes), builder,
                         server_credentials));
  auto health = std::make_unique<GrpcHealthService>();
  builder.RegisterService(health.get());
  for (const Register& service : services) service(builder);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    return absl::InternalError(absl::StrCat("gRPC does not serve ", FormatHostAddress(address)));
  }
  door->Open();
  return std::unique_ptr<GrpcServer>(
      new GrpcServer(std::move(health), std::move(door), std::move(server), address));
}

GrpcServer::GrpcServer(std::unique_ptr<GrpcHealthService> health,
                       std::unique_ptr<GrpcAcceptor> door, std::unique_ptr<grpc::Server> server,
                       HostAddress address)
    : health_(std::move(health)),
      door_(std::move(door)),
      server_(std::move(server)),
      address_(std::move(address)) {}

GrpcServer::~GrpcServer() { Shutdown(std::chrono::system_clock::now()); }

void GrpcServer::SetReady(bool ready) { health_->SetReady(ready); }

std::shared_ptr<grpc::Channel> GrpcServer::InProcessChannel() {
  return server_->InProcessChannel(grpc::ChannelArguments());
}

void GrpcServer::Shutdown(std::chrono::system_clock::time_point deadline) {
  door_->Close();
  server_->Shutdown(deadline);
}

}  // namespace grapevine
