#include "node/control/grpc_control_door.h"

namespace grapevine {
namespace {

class ClosedDoor final : public grpc::ServerBidiReactor<control::Report, control::Directive> {
 public:
  ClosedDoor() { Finish(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no coordinator")); }
  void OnDone() override { delete this; }
};

}  // namespace

void GrpcControlDoor::Open(GrpcCoordinatorService* service) {
  MutexLock lock(mutex_);
  service_ = service;
}

grpc::ServerBidiReactor<control::Report, control::Directive>* GrpcControlDoor::Connect(
    grpc::CallbackServerContext* context) {
  MutexLock lock(mutex_);
  if (service_ != nullptr) return service_->Admit(context);
  return new ClosedDoor;
}

}  // namespace grapevine
