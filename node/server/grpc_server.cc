#include "node/server/grpc_server.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "node/server/grpc_keepalive.h"

namespace grapevine {

namespace {

// Descriptors that are kept for files, and for connections that this node dials.
constexpr int kKept = 128;
constexpr int kUnauthenticated = 1024;
constexpr int kForEachNode = 4;
// The pause before the next attempt when the system has no descriptor: it may have one later.
constexpr int kPauseMs = 100;

// The remedy for a port that is taken.
constexpr std::string_view kRemedy =
    "choose another address or port with --bind, rank 0's port with --master-port on all ranks";

}  // namespace

int GrpcAcceptor::MaxDescriptors(int nodes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = kUnauthenticated;
  const auto wanted =
      static_cast<rlim_t>(kUnauthenticated) + static_cast<rlim_t>(nodes) * kForEachNode;
  const auto there = static_cast<int>(std::min(limit.rlim_cur, wanted + kKept));
  // If there are very few descriptors, half of them are kept.
  return std::max(there - kKept, there / 2);
}

int64_t GrpcAcceptor::LimitFor(int64_t open) { return open + std::min<int64_t>(open, kKept); }

size_t GrpcAcceptor::ShareOfHost(int nodes) {
  const int most = MaxDescriptors(nodes);
  const int of_nodes = std::min(nodes * kForEachNode, most);
  return static_cast<size_t>(std::max(1, of_nodes + (most - of_nodes) / 2));
}

absl::StatusOr<std::unique_ptr<GrpcAcceptor>> GrpcAcceptor::Make(
    ListeningSockets sockets, int max_descriptors, size_t share_of_host,
    grpc::ServerBuilder& builder, std::shared_ptr<grpc::ServerCredentials> credentials) {
  int stop[2];
  if (pipe2(stop, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot open a pipe");
  std::unique_ptr<GrpcAcceptor> made(new GrpcAcceptor(std::move(sockets), max_descriptors,
                                                      share_of_host, UniqueDescriptor(stop[0]),
                                                      UniqueDescriptor(stop[1])));
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  made->acceptor_ =
      builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, std::move(credentials));
  return made;
}

GrpcAcceptor::GrpcAcceptor(ListeningSockets sockets, int max_descriptors, size_t share_of_host,
                           UniqueDescriptor stop_read, UniqueDescriptor stop_write)
    : sockets_(std::move(sockets)),
      most_descriptors_(max_descriptors),
      hosts_(share_of_host),
      stop_read_(std::move(stop_read)),
      stop_write_(std::move(stop_write)) {}

void GrpcAcceptor::Open() {
  thread_ = std::thread([this] { Serve(); });
}

void GrpcAcceptor::Close() {
  // Closing the pipe is not enough: a process forked from this one may have its end open.
  if (stop_write_.get() >= 0) (void)!write(stop_write_.get(), "", 1);
  stop_write_ = UniqueDescriptor();
  if (thread_.joinable()) thread_.join();
}

void GrpcAcceptor::Serve() {
  std::vector<pollfd> polled = {{stop_read_.get(), POLLIN, 0}};
  for (const UniqueDescriptor& listener : sockets_.descriptors) {
    polled.push_back({listener.get(), POLLIN, 0});
  }
  while (true) {
    (void)poll(polled.data(), polled.size(), -1);
    if (polled.front().revents != 0) return;
    bool no_descriptor = false;
    for (size_t i = 1; i < polled.size(); ++i) {
      if (polled[i].revents == 0) continue;
      Attempt attempt = Attempt::kAgain;
      while (attempt == Attempt::kAgain) attempt = AcceptOne(polled[i].fd);
      no_descriptor = no_descriptor || attempt == Attempt::kNoDescriptor;
    }
    // The pending connection stays pending: without a pause this would be a busy loop.
    if (no_descriptor) (void)poll(polled.data(), 1, kPauseMs);
  }
}

GrpcAcceptor::Attempt GrpcAcceptor::AcceptOne(int listener) {
  sockaddr_storage from = {};
  socklen_t size = sizeof from;
  const int connection =
      accept4(listener, reinterpret_cast<sockaddr*>(&from), &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (connection < 0) {
    if (errno == EINTR || errno == ECONNABORTED) return Attempt::kAgain;
    return errno == EMFILE || errno == ENFILE ? Attempt::kNoDescriptor : Attempt::kNobodyWaits;
  }
  // The system gives the lowest number that is free.
  if (connection >= most_descriptors_) {
    close(connection);
    LOG_EVERY_T(WARNING, 1) << "rejected a connection: " << most_descriptors_
                            << " descriptors are in use";
    return Attempt::kAgain;
  }
  if (!hosts_.Admit(connection, from)) {
    close(connection);
    LOG_EVERY_T(WARNING, 1) << "rejected a connection of a host that has too many";
    return Attempt::kAgain;
  }
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters taken;
  taken.listener_fd = listener;
  taken.fd = connection;
  acceptor_->HandleNewConnection(&taken);
  return Attempt::kAgain;
}

void GrpcHealthService::Offer(const std::vector<std::string>& services) {
  MutexLock lock(mutex_);
  offered_.insert(offered_.end(), services.begin(), services.end());
}

grpc::Status GrpcHealthService::Check(grpc::ServerContext*,
                                      const grpc::health::v1::HealthCheckRequest* request,
                                      grpc::health::v1::HealthCheckResponse* response) {
  using Response = grpc::health::v1::HealthCheckResponse;
  MutexLock lock(mutex_);
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

  // Returns null for the calls of other services.
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

// Limits what unauthenticated clients can make a server hold.
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

  ASSIGN_OR_RETURN(ListeningSockets sockets, ListenOn(options.bind, options.peer_timeout, kRemedy));
  const HostAddress address{options.bind.host, sockets.port};

  grpc::reflection::InitProtoReflectionServerBuilderPlugin();
  grpc::ServerBuilder builder;
  SetKeepalive(options.peer_timeout, &builder);
  BoundUnauthenticated(options, builder);
  ASSIGN_OR_RETURN(
      std::unique_ptr<GrpcAcceptor> acceptor,
      GrpcAcceptor::Make(std::move(sockets), GrpcAcceptor::MaxDescriptors(options.nodes),
                         GrpcAcceptor::ShareOfHost(options.nodes), builder, server_credentials));
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

void GrpcServer::Offer(const std::vector<std::string>& services) { health_->Offer(services); }

std::shared_ptr<grpc::Channel> GrpcServer::InProcessChannel() {
  return server_->InProcessChannel(grpc::ChannelArguments());
}

void GrpcServer::Shutdown(std::chrono::system_clock::time_point deadline) {
  acceptor_->Close();
  server_->Shutdown(deadline);
}

}  // namespace grapevine
