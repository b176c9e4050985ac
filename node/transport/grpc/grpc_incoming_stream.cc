#include "node/transport/grpc/grpc_incoming_stream.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include <utility>

#include "node/transport/grpc/grpc_bytes.h"

namespace grapevine {
namespace {

// To hear why it was refused.
constexpr std::chrono::milliseconds kEndTimeout{2000};

grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

}  // namespace

GrpcIncomingStream::GrpcIncomingStream(std::shared_ptr<GrpcStreamAcceptor> acceptor,
                                       std::function<Round()> round)
    : acceptor_(std::move(acceptor)),
      talk_({.round = std::move(round),
             .introduce =
                 [this](EdgeIdentity caller) {
                   acceptor_->Introduce(shared_from_this(), std::move(caller));
                 },
             .leave = [this] { Leave(); }}) {}

void GrpcIncomingStream::Await(RawGossip& service, GrpcQueue& queue) {
  service.RequestExchange(&call_, &stream_, queue.cq(), queue.cq(),
                          accept_.Arm(shared_from_this()));
}

void GrpcIncomingStream::Accepted(bool ok) {
  if (ok && acceptor_->OnConnect(shared_from_this())) ReadNext();
}

void GrpcIncomingStream::ReadNext() { stream_.Read(&incoming_, read_.Arm(shared_from_this())); }

void GrpcIncomingStream::Greet(const EdgeIdentity& self) {
  talk_.Greet(self);
  Wake();
}

void GrpcIncomingStream::Admit(std::shared_ptr<PeerLink> link) {
  talk_.Admit(std::move(link));
  Wake();
}

void GrpcIncomingStream::Abort(const absl::Status& why) {
  {
    MutexLock lock(mutex_);
    if (end_.has_value()) return;
    end_ = why;
  }
  writes_.Close();
}

void GrpcIncomingStream::Finish() {
  absl::Status end;
  {
    MutexLock lock(mutex_);
    end = *end_;
  }
  stream_.Finish(ToGrpc(end), finish_.Arm(shared_from_this()));
}

void GrpcIncomingStream::Beat() {
  talk_.Beat();
  Wake();
}

bool GrpcIncomingStream::WriteNext() {
  const std::optional<ToSender> message = talk_.Next();
  if (!message.has_value()) return false;
  stream_.Write(ToByteBuffer(Encode(*message)), write_.Arm(shared_from_this()));
  return true;
}

void GrpcIncomingStream::Written(bool ok) {
  if (!ok) Disconnected();
  writes_.Written();
}

void GrpcIncomingStream::Read(bool ok) {
  if (!ok) return Disconnected();
  grpc::ProtoBufferReader reader(&incoming_);
  const absl::Status heard = talk_.Hear(&reader, static_cast<int64_t>(incoming_.Length()));
  if (!heard.ok()) Violated(heard);
  incoming_.Clear();
  if (!Ending()) ReadNext();
}

void GrpcIncomingStream::Violated(const absl::Status& how) {
  if (!admitted()) return acceptor_->Reject(*this, how);
  Abort(talk_.Violated(how, address()));
}

bool GrpcIncomingStream::Ending() {
  MutexLock lock(mutex_);
  return end_.has_value();
}

void GrpcIncomingStream::Disconnected() {
  if (!Ending() && admitted()) talk_.Broke(address());
  Abort(absl::CancelledError("the caller is gone"));
}

void GrpcIncomingStream::Tick(std::chrono::milliseconds tick, const GrpcTransportOptions& options) {
  {
    MutexLock lock(mutex_);
    if (end_.has_value()) {
      ending_ += tick;
      if (ending_ >= kEndTimeout) Cancel();
      return;
    }
  }
  if (admitted()) return talk_.Tick(tick, options.peer_timeout, address());
  const absl::Status patient = talk_.TickAtDoor(tick, options.peer_timeout);
  if (!patient.ok()) acceptor_->Reject(*this, patient);
}

}  // namespace grapevine
