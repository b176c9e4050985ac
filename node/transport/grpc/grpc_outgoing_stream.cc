#include "node/transport/grpc/grpc_outgoing_stream.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include <optional>

#include "node/transport/grpc/grpc_bytes.h"

namespace grapevine {
namespace {

constexpr char kMethod[] = "/grapevine.gossip.Gossip/Exchange";

}  // namespace

void GrpcOutgoingStream::Start(const std::shared_ptr<grpc::Channel>& channel, GrpcQueue& queue) {
  stream_ = grpc::GenericStub(channel).PrepareCall(&call_, kMethod, queue.cq());
  stream_->StartCall(start_.Arm(shared_from_this()));
}

void GrpcOutgoingStream::Started(bool ok) {
  if (!ok) return writes_.Close();
  started_ = true;
  ReadNext();
  Wake();
}

void GrpcOutgoingStream::Leave() {
  if (!connected()) return Cancel();
  end_.SayGoodbye();
  Wake();
}

void GrpcOutgoingStream::Beat() {
  end_.Beat();
  Wake();
}

bool GrpcOutgoingStream::WriteNext() {
  if (!started_) return false;
  const std::optional<SendingEnd::Message> message = end_.Next();
  if (!message.has_value()) return false;
  stream_->Write(ToByteBuffer(message->bytes, message->data), write_.Arm(shared_from_this()));
  return true;
}

void GrpcOutgoingStream::Written(bool ok) {
  if (!ok) writes_.Close();
  writes_.Written();
}

void GrpcOutgoingStream::ReadNext() { stream_->Read(&incoming_, read_.Arm(shared_from_this())); }

void GrpcOutgoingStream::Read(bool ok) {
  if (!ok) return writes_.Close();
  grpc::ProtoBufferReader reader(&incoming_);
  if (!end_.Hear(&reader, static_cast<int64_t>(incoming_.Length())).ok()) {
    Cancel();
    return writes_.Close();
  }
  ReadNext();
  Wake();
}

void GrpcOutgoingStream::Finish() { stream_->Finish(&status_, finish_.Arm(shared_from_this())); }

void GrpcOutgoingStream::Finished() {
  const absl::Status mendable = end_.Ended(
      absl::Status(static_cast<absl::StatusCode>(status_.error_code()), status_.error_message()));
  if (!mendable.ok()) context_.retry(mendable);
  context_.done();
}

}  // namespace grapevine
