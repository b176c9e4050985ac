#include "node/server/grpc_server.h"

#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "node/server/grpc_acceptor.h"
#include "node/server/grpc_keepalive.h"
#include "system/mutex.h"

namespace grapevine {

grpc::Status GrpcHealthService::Check(grpc::ServerContext*,
                                      const grpc::health::v1::HealthCheckRequest* request,
                                      grpc::health::v1::HealthCheckResponse* response) {
  using Response = grpc::health::v1::HealthCheckResponse;
  if (request->service().empty() ||
      std::ranges::find(offered_, request->service()) != offered_.end()) {
    response->set_status(Response::SERVING);
  } else if (request->service() == "grapevine") {
    response->set_status(ready_ ? Response::SERVING : Response::NOT_SERVING);
  } else {
    return {grpc::StatusCode::NOT_FOUND, "known services: \"\" and \"grapevine\""};
  }
  return grpc::Status::OK;
}

namespace {

// Bounds gRPC's reflection service, which holds a thread for each of its streams: beyond a few, the
// oldest is ended, so that no client can keep the others out.
//
// Thread-safe. Belongs to the server's builder, which takes interceptors.

class GrpcReflectionLimit final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  static constexpr size_t kStreams = 4;

  // None for the calls of other services.
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* call) override;

 private:
  class Watch;

  // The open streams, the oldest first. Interceptors may outlive the factory.
  struct Streams {
    Mutex mutex;
    std::deque<grpc::ServerContextBase*> underway ABSL_GUARDED_BY(mutex);
  };
  const std::shared_ptr<Streams> streams_ = std::make_shared<Streams>();
};

using grpc::experimental::InterceptionHookPoints;

class GrpcReflectionLimit::Watch final : public grpc::experimental::Interceptor {
 public:
  Watch(std::shared_ptr<Streams> streams, grpc::ServerContextBase* context)
      : streams_(std::move(streams)), context_(context) {}

  // A call counts as open between its start and its close, while its context certainly exists.
  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_INITIAL_METADATA)) {
      Begin();
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS) ||
        methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_CLOSE)) {
      End();
    }
    methods->Proceed();
  }

 private:
  void Begin() {
    MutexLock lock(streams_->mutex);
    streams_->underway.push_back(context_);
    if (streams_->underway.size() <= kStreams) return;
    streams_->underway.front()->TryCancel();
    streams_->underway.pop_front();
  }
  void End() {
    MutexLock lock(streams_->mutex);
    std::erase(streams_->underway, context_);
  }

  const std::shared_ptr<Streams> streams_;
  grpc::ServerContextBase* const context_;
};

grpc::experimental::Interceptor* GrpcReflectionLimit::CreateServerInterceptor(
    grpc::experimental::ServerRpcInfo* call) {
  if (!std::string_view(call->method()).starts_with("/grpc.reflection.")) return nullptr;
  return new Watch(streams_, call->server_context());
}

// The most that unauthenticated clients may make a server hold.
void BoundUnauthenticated(const GrpcServerOptions& options, grpc::ServerBuilder& builder) {
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
  BoundUnauthenticated(options, builder);
  ASSIGN_OR_RETURN(
      std::unique_ptr<GrpcAcceptor> acceptor,
      GrpcAcceptor::Make(std::move(sockets), GrpcAcceptor::MaxDescriptors(options.nodes), builder,
                         server_credentials));
  auto health = std::make_unique<GrpcHealthService>(options.offered);
  builder.RegisterService(health.get());
  for (const Register& service : services) service(builder);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    return absl::InternalError(absl::StrCat("gRPC does not serve ", FormatHostAddress(address)));
  }
  acceptor->Open();
  return std::unique_ptr<GrpcServer>(
      new GrpcServer(std::move(health), std::move(acceptor), std::move(server), address));
}

GrpcServer::GrpcServer(std::unique_ptr<GrpcHealthService> health,
                       std::unique_ptr<GrpcAcceptor> acceptor, std::unique_ptr<grpc::Server> server,
                       HostAddress address)
    : health_(std::move(health)),
      acceptor_(std::move(acceptor)),
      server_(std::move(server)),
      address_(std::move(address)) {}

GrpcServer::~GrpcServer() { Shutdown(std::chrono::system_clock::now()); }

void GrpcServer::SetReady(bool ready) { health_->SetReady(ready); }

std::shared_ptr<grpc::Channel> GrpcServer::InProcessChannel() {
  return server_->InProcessChannel(grpc::ChannelArguments());
}

void GrpcServer::Shutdown(std::chrono::system_clock::time_point deadline) {
  acceptor_->Close();
  server_->Shutdown(deadline);
}

}  // namespace grapevine
