// A node's only gRPC server: services, health, reflection, one port. The connections, threads and
// buffers that unauthenticated clients can make it hold are bounded.
//
// Liveness and readiness are two health entries: "" is serving as soon as the
// server is up, "grapevine" only while SetReady(true). By others a node is known for what it is.
//
// Thread-safety: all methods from any thread. Services and credentials must
// outlive the server.
#ifndef GRAPEVINE_NODE_SERVER_GRPC_SERVER_H_
#define GRAPEVINE_NODE_SERVER_GRPC_SERVER_H_

#include <grpcpp/channel.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "node/identity/host_address.h"
#include "node/server/grpc_acceptor.h"
#include "node/server/grpc_credentials.h"
#include "node/server/grpc_health.grpc.pb.h"

namespace grapevine {

// Liveness and readiness of a node as grpc.health.v1. Thread-safe.
//
// Our own, because gRPC's is served by threads of its callback API, which poll all of a server's
// connections and so move the transport's bytes from core to core: with it, one node sends to
// another at 0.7 of the speed of raw TCP, without it at 0.9 (docs/transport.md). Beside the
// transport's queue a synchronous service gets no poller of its own.
//
// Watch is not offered, as the protocol allows: a watcher would hold a thread.
class GrpcHealthService final : public grpc::health::v1::Health::Service {
 public:
  // `offered` are serving as long as the server runs.
  explicit GrpcHealthService(std::vector<std::string> offered) : offered_(std::move(offered)) {}

  // "" is serving as long as the server runs; "grapevine" only while ready.
  void SetReady(bool ready) { ready_ = ready; }

 private:
  grpc::Status Check(grpc::ServerContext* context,
                     const grpc::health::v1::HealthCheckRequest* request,
                     grpc::health::v1::HealthCheckResponse* response) override;

  const std::vector<std::string> offered_;
  std::atomic<bool> ready_ = false;
};

struct GrpcServerOptions {
  // Where to listen, which may differ from the address that peers are told. Port 0: the system
  // chooses, see address().
  HostAddress bind{"127.0.0.1", 0};
  // The nodes of the run, which determine how many connections are accepted.
  int nodes = 1;
  std::chrono::milliseconds peer_timeout{30000};  // --peer-timeout, for keepalive
  // How long a connection may take for its handshakes, and how long it may be without a call.
  // Connections between nodes are never idle.
  std::chrono::milliseconds handshake_timeout{10000};
  std::chrono::milliseconds idle_timeout{30000};
  // Health services by which the node is known, beside "" and "grapevine": who asks for another is
  // told of those two alone.
  std::vector<std::string> offered = {};
};

class GrpcServer {
 public:
  // Adds services (and builder options) to the server.
  using Register = std::function<void(grpc::ServerBuilder&)>;

  // Listens. kRendezvous names the address, the system's reason (port in use,
  // no such address) and the remedy; kUsage when the credentials forbid it.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const GrpcServerOptions& options,
                                                           const GrpcCredentials& credentials,
                                                           std::span<const Register> services);
  // Ends every call at once.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // The bound host with the port that was chosen.
  const HostAddress& address() const { return address_; }

  void SetReady(bool ready);

  // A connection to this server without sockets and credentials: how rank 0
  // reaches its own coordinator.
  std::shared_ptr<grpc::Channel> InProcessChannel();

  // Takes no new calls, cancels those still running at `deadline`; idempotent.
  void Shutdown(std::chrono::system_clock::time_point deadline);

 private:
  GrpcServer(std::unique_ptr<GrpcHealthService> health, std::unique_ptr<GrpcAcceptor> acceptor,
             std::unique_ptr<grpc::Server> server, HostAddress address);

  const std::unique_ptr<GrpcHealthService> health_;  // outlives the server
  const std::unique_ptr<GrpcAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
  HostAddress address_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_GRPC_SERVER_H_
