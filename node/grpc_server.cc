#include "node/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "node/grpc_keepalive.h"
#include "run/failure.h"

namespace grapevine {
namespace {

// gRPC says only that it could not listen; the system says why. Empty when
// `address` can be bound after all.
std::string WhyNotBound(const HostAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(address.host.empty() ? nullptr : address.host.c_str(),
                                std::to_string(address.port).c_str(), &hints, &found);
  if (error != 0) return gai_strerror(error);
  std::string reason;
  const int descriptor = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // As gRPC does, so that a port in TIME_WAIT is not called taken.
  const int reuse = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse));
  if (descriptor < 0 || bind(descriptor, found->ai_addr, found->ai_addrlen) != 0 ||
      listen(descriptor, 1) != 0) {
    reason = std::strerror(errno);
  }
  if (descriptor >= 0) close(descriptor);
  freeaddrinfo(found);
  return reason;
}

absl::Status CannotListen(const HostAddress& address) {
  const std::string reason = WhyNotBound(address);
  return WithFailure(absl::UnavailableError(absl::StrCat(
                         "cannot listen on ", FormatHostAddress(address), ": ",
                         reason.empty() ? "gRPC gave no reason" : reason,
                         "; choose another address or port with --bind, rank 0's port with "
                         "--master-port on all ranks")),
                     Failure::kRendezvous);
}

}  // namespace

absl::StatusOr<std::unique_ptr<GrpcServer>> GrpcServer::Start(const GrpcServerOptions& options,
                                                              const GrpcCredentials& credentials,
                                                              std::span<const Register> services) {
  absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> server_credentials =
      credentials.ForServer(options.bind.host);
  if (!server_credentials.ok()) return server_credentials.status();

  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  // Otherwise two nodes could share one port without noticing.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  SetKeepalive(options.peer_timeout, &builder);
  HostAddress address = options.bind;
  int port = 0;
  builder.AddListeningPort(FormatHostAddress(options.bind), *server_credentials, &port);
  auto health = std::make_unique<GrpcHealthService>();
  builder.RegisterService(health.get());
  for (const Register& service : services) service(builder);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) return CannotListen(options.bind);
  address.port = port;
  return std::unique_ptr<GrpcServer>(
      new GrpcServer(std::move(health), std::move(server), std::move(address)));
}

GrpcServer::GrpcServer(std::unique_ptr<GrpcHealthService> health,
                       std::unique_ptr<grpc::Server> server, HostAddress address)
    : health_(std::move(health)), server_(std::move(server)), address_(std::move(address)) {}

GrpcServer::~GrpcServer() { Shutdown(std::chrono::system_clock::now()); }

void GrpcServer::SetReady(bool ready) { health_->SetReady(ready); }

std::shared_ptr<grpc::Channel> GrpcServer::InProcessChannel() {
  return server_->InProcessChannel(grpc::ChannelArguments());
}

void GrpcServer::Shutdown(std::chrono::system_clock::time_point deadline) {
  server_->Shutdown(deadline);
}

}  // namespace grapevine
