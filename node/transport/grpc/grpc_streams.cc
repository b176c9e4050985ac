#include "node/transport/grpc/grpc_streams.h"

#include <grpcpp/support/slice.h>

#include <memory>

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

namespace {

using Owner = std::shared_ptr<void>;

grpc::Slice Borrow(const SharedBytes& data) {
  return grpc::Slice(
      data.begin, static_cast<size_t>(data.size),
      [](void* owner) { delete static_cast<Owner*>(owner); }, new Owner(data.owner));
}

}  // namespace

grpc::ByteBuffer ToByteBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

grpc::ByteBuffer ToByteBuffer(const std::string& header, const SharedBytes& data) {
  if (data.size == 0) return ToByteBuffer(header);
  const grpc::Slice slices[] = {grpc::Slice(header), Borrow(data)};
  return grpc::ByteBuffer(slices, 2);
}

}  // namespace grapevine
