#include "node/server/grpc_reflection_limit.h"

#include <grpcpp/server_context.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace grapevine {
namespace {

using grpc::experimental::InterceptionHookPoints;

}  // namespace

class GrpcReflectionLimit::Watch final : public grpc::experimental::Interceptor {
 public:
  Watch(std::shared_ptr<Streams> streams, grpc::ServerContextBase* context)
      : streams_(std::move(streams)), context_(context) {}

  // A call is among those underway between its start and its close, while its context
  // is there for sure.
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

}  // namespace grapevine
