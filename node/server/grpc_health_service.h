// Liveness and readiness of a node as grpc.health.v1.
//
// Our own, because gRPC's is served by threads of its callback API, which poll
// all of a server's connections and so carry the transport's bytes from core to
// core: with it one node sends to another at 0.7 of the speed of raw TCP, without
// it at 0.9 (docs/transport.md). A synchronous service has no poller of its own
// beside the transport's queue.
//
// Watch is not offered, as the protocol allows: a watcher would hold a thread.
//
// Thread-safe.
#ifndef GRAPEVINE_NODE_SERVER_GRPC_HEALTH_SERVICE_H_
#define GRAPEVINE_NODE_SERVER_GRPC_HEALTH_SERVICE_H_

#include <atomic>

#include "node/server/grpc_health.grpc.pb.h"

namespace grapevine {

class GrpcHealthService final : public grpc::health::v1::Health::Service {
 public:
  // "" is serving as long as the server runs; "grapevine" only while ready.
  void SetReady(bool ready) { ready_ = ready; }

 private:
  grpc::Status Check(grpc::ServerContext* context,
                     const grpc::health::v1::HealthCheckRequest* request,
                     grpc::health::v1::HealthCheckResponse* response) override;

  std::atomic<bool> ready_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_GRPC_HEALTH_SERVICE_H_
