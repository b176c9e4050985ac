#include "node/failed_start.h"

#include <glog/logging.h>

#include <chrono>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "node/control/grpc_coordinator_service.h"
#include "node/server/grpc_server.h"

namespace grapevine {

void TellOfFailedStart(const NodeSessionOptions& options, const absl::Status& why) {
  if (options.size < 2) return;
  CoordinatorOptions coordinator;
  coordinator.own.set_world_size(options.size);
  GrpcCoordinatorService service(std::move(coordinator),
                                 {.on_metrics = [](Rank, const control::NodeMetrics&) {},
                                  .on_notice = [](const std::string&) {}},
                                 options.token);
  service.CannotBegin(why);
  const GrpcServer::Register services[] = {
      [&service](grpc::ServerBuilder& builder) { builder.RegisterService(&service); }};
  absl::StatusOr<std::unique_ptr<GrpcServer>> server = GrpcServer::Start(
      {.bind = options.bind, .nodes = options.size, .peer_timeout = options.peer_timeout},
      options.credentials, services);
  if (!server.ok()) {
    VLOG(1) << "nobody is told why rank 0 cannot begin: " << server.status();
    return;
  }
  (void)service.AwaitDeparture();  // whoever comes later is refused by nobody's listening
  (*server)->Shutdown(std::chrono::system_clock::now());
}

}  // namespace grapevine
