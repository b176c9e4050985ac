// Bounds gRPC's reflection service, which holds a thread for each of its streams: of
// more than a few the oldest is ended, so that nobody can keep the others out.
//
// Thread-safe. Belongs to the server's builder, which takes interceptors.
#ifndef GRAPEVINE_NODE_SERVER_GRPC_REFLECTION_LIMIT_H_
#define GRAPEVINE_NODE_SERVER_GRPC_REFLECTION_LIMIT_H_

#include <grpcpp/support/server_interceptor.h>

#include <deque>
#include <memory>

#include "system/mutex.h"

namespace grapevine {

class GrpcReflectionLimit final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  static constexpr size_t kStreams = 4;

  // None for the calls of other services.
  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* call) override;

 private:
  class Watch;

  // The streams underway, the oldest first. Interceptors may outlive the factory.
  struct Streams {
    Mutex mutex;
    std::deque<grpc::ServerContextBase*> underway ABSL_GUARDED_BY(mutex);
  };
  const std::shared_ptr<Streams> streams_ = std::make_shared<Streams>();
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_GRPC_REFLECTION_LIMIT_H_
