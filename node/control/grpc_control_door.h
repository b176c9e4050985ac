// The service through which nodes reach the coordinator of a node that has none from the start:
// services must be added to a gRPC server before it starts, and the role may come to the node
// later.
//
// Thread-safety: all methods may be called from any thread. Lifetime: outlives the server.
#ifndef GRAPEVINE_NODE_CONTROL_GRPC_CONTROL_DOOR_H_
#define GRAPEVINE_NODE_CONTROL_GRPC_CONTROL_DOOR_H_

#include "absl/base/thread_annotations.h"
#include "node/control/control.pb.h"
#include "node/control/grpc_control.grpc.pb.h"
#include "node/control/grpc_coordinator_service.h"
#include "system/mutex.h"

namespace grapevine {

class GrpcControlDoor final : public control::Control::CallbackService {
 public:
  // Hands all callers from now on to `service`, which outlives the server. Must be called once at
  // most. Before that, callers are told that no such service exists.
  void Open(GrpcCoordinatorService* service);

 private:
  grpc::ServerBidiReactor<control::Report, control::Directive>* Connect(
      grpc::CallbackServerContext* context) override;

  Mutex mutex_;
  GrpcCoordinatorService* service_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_GRPC_CONTROL_DOOR_H_
