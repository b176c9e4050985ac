// GrpcServer is a node's only gRPC server: services, health and reflection on one port, whose
// connections the server accepts itself (GrpcAcceptor). The connections, threads and buffers that
// unauthenticated clients can make it hold are bounded.
#ifndef GRAPEVINE_NODE_SERVER_GRPC_SERVER_H_
#define GRAPEVINE_NODE_SERVER_GRPC_SERVER_H_

#include <grpcpp/channel.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "node/identity/host_address.h"
#include "node/server/grpc_credentials.h"
#include "node/server/grpc_health.grpc.pb.h"
#include "node/server/host_connections.h"
#include "node/server/listening_sockets.h"
#include "system/file_descriptor.h"
#include "system/mutex.h"

namespace grapevine {

// Accepts the connections to a node's server, as many as the process can afford.
//
// No host has more than half of the connections that strangers may have (HostConnections).
//
// Left to itself, gRPC accepts until the process has no descriptor left, not even for files, and
// then stops listening for good. So GrpcAcceptor accepts in its place, on a thread of its own, and
// hangs up on callers when the descriptors are nearly used up: a refused connection is tried again,
// whereas a file that cannot be opened ends the run.
//
// Thread-compatible.
class GrpcAcceptor {
 public:
  // Makes an acceptor that belongs to the server of `builder`, with these credentials. No
  // connection keeps a descriptor numbered `max_descriptors` or above, and no host has more than
  // `share_of_host` connections.
  static absl::StatusOr<std::unique_ptr<GrpcAcceptor>> Make(
      ListeningSockets sockets, int max_descriptors, size_t share_of_host,
      grpc::ServerBuilder& builder, std::shared_ptr<grpc::ServerCredentials> credentials);
  ~GrpcAcceptor() { Close(); }

  // Starts accepting. To be called once, when the server is up.
  void Open();
  // Stops accepting. To be called before the server goes down. Idempotent.
  void Close();

  // Returns a limit that leaves some descriptors free for files and this node's own connections,
  // and gives unauthenticated connections at most 1024 beyond four for each of `nodes`.
  static int MaxDescriptors(int nodes);
  // Returns the lowest limit of the system with which `open` descriptors may be open at a time,
  // where that limit is the one that counts.
  static int64_t LimitFor(int64_t open);
  // Returns how many of the MaxDescriptors connections one host may have: those of all nodes of the
  // run, and half of the others.
  static size_t ShareOfHost(int nodes);

 private:
  GrpcAcceptor(ListeningSockets sockets, int max_descriptors, size_t share_of_host,
               UniqueDescriptor stop_read, UniqueDescriptor stop_write);
  void Serve();
  // The outcome of an attempt to accept a connection.
  enum class Attempt { kAgain, kNobodyWaits, kNoDescriptor };
  Attempt AcceptOne(int listener);

  const ListeningSockets sockets_;
  const int most_descriptors_;
  HostConnections hosts_;  // used by the thread only
  const UniqueDescriptor stop_read_;
  UniqueDescriptor stop_write_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::thread thread_;
};

// Liveness and readiness of a node as grpc.health.v1. Thread-safe.
//
// gRPC's own health service is not used, because it is served by threads of its callback API, which
// poll all of a server's connections and so move the transport's bytes from core to core: with it,
// one node sends to another at 0.7 of the speed of raw TCP, without it at 0.9 (docs/transport.md).
// Beside the transport's queue, a synchronous service gets no poller of its own.
//
// Watch is not offered, as the protocol allows: a watcher would hold a thread.
class GrpcHealthService final : public grpc::health::v1::Health::Service {
 public:
  // The services `offered` are serving as long as the server runs.
  explicit GrpcHealthService(std::vector<std::string> offered) : offered_(std::move(offered)) {}

  // Sets whether "grapevine" is serving; "" is serving as long as the server runs.
  void SetReady(bool ready) { ready_ = ready; }
  // Adds services that are serving from this call on.
  void Offer(const std::vector<std::string>& services);

 private:
  grpc::Status Check(grpc::ServerContext* context,
                     const grpc::health::v1::HealthCheckRequest* request,
                     grpc::health::v1::HealthCheckResponse* response) override;

  Mutex mutex_;
  std::vector<std::string> offered_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> ready_ = false;
};

struct GrpcServerOptions {
  // The address to listen on, which may differ from the address that peers are told. Port 0: the
  // system chooses; see address().
  HostAddress bind{"127.0.0.1", 0};
  // The number of nodes of the run, which determines how many connections are accepted.
  int nodes = 1;
  std::chrono::milliseconds peer_timeout{30000};  // --peer-timeout, for keepalive
  // The time that a connection may take for its handshakes, and the time that it may be without a
  // call. Connections between nodes are never idle.
  std::chrono::milliseconds handshake_timeout{10000};
  std::chrono::milliseconds idle_timeout{30000};
  // Health services by which the node is known, beside "" and "grapevine". A client that asks for
  // another service is told of those two alone.
  std::vector<std::string> offered = {};
};

// A running server. Liveness and readiness are two health services: "" is serving as soon as the
// server is up, "grapevine" only after SetReady(true). Further ones say what the node is
// (GrpcServerOptions::offered).
//
// Thread-safety: all methods from any thread. Services and credentials must outlive the server.
class GrpcServer {
 public:
  // Adds services (and builder options) to the server.
  using Register = std::function<void(grpc::ServerBuilder&)>;

  // Starts to listen and serve. kRendezvous names the address, the system's reason (port in use, no
  // such address) and the remedy; kUsage if the credentials forbid the address.
  static absl::StatusOr<std::unique_ptr<GrpcServer>> Start(const GrpcServerOptions& options,
                                                           const GrpcCredentials& credentials,
                                                           std::span<const Register> services);
  // Ends every call at once.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  // The bound host, with the port that was chosen.
  const HostAddress& address() const { return address_; }

  void SetReady(bool ready);
  void Offer(const std::vector<std::string>& services);

  // Returns a connection to this server without sockets and credentials, by which rank 0 reaches
  // its own coordinator.
  std::shared_ptr<grpc::Channel> InProcessChannel();

  // Takes no new calls, and cancels those that still run at `deadline`. Idempotent.
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
