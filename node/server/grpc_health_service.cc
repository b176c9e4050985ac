#include "node/server/grpc_health_service.h"

namespace grapevine {

grpc::Status GrpcHealthService::Check(grpc::ServerContext*,
                                      const grpc::health::v1::HealthCheckRequest* request,
                                      grpc::health::v1::HealthCheckResponse* response) {
  using Response = grpc::health::v1::HealthCheckResponse;
  if (request->service().empty()) {
    response->set_status(Response::SERVING);
  } else if (request->service() == "grapevine") {
    response->set_status(ready_ ? Response::SERVING : Response::NOT_SERVING);
  } else {
    return {grpc::StatusCode::NOT_FOUND, "known services: \"\" and \"grapevine\""};
  }
  return grpc::Status::OK;
}

}  // namespace grapevine
