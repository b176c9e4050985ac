#include "node/transport/grpc/grpc_queue.h"

#include "glog/logging.h"

namespace grapevine {

void GrpcQueue::AddTo(grpc::ServerBuilder& builder) {
  CHECK(queue_ == nullptr) << "belongs to a server already";
  queue_ = builder.AddCompletionQueue();
  thread_ = std::thread([this] { Serve(); });
}

void GrpcQueue::Serve() {
  void* tag;
  bool ok;
  while (queue_->Next(&tag, &ok)) static_cast<GrpcTag*>(tag)->Run(ok);
}

void GrpcQueue::Stop() {
  if (queue_ == nullptr) return;
  queue_->Shutdown();
  thread_.join();
  queue_.reset();
}

}  // namespace grapevine
