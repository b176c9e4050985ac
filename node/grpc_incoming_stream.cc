#include "node/grpc_incoming_stream.h"

#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "node/grpc_bytes.h"

namespace grapevine {
namespace {

// A stranger has so long to say who it is, and anybody to hear why it was refused.
constexpr std::chrono::milliseconds kHelloTimeout{10000};
constexpr std::chrono::milliseconds kEndTimeout{2000};

grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

}  // namespace

void GrpcIncomingStream::Await(RawGossip& service, GrpcQueue& queue) {
  service.RequestExchange(&call_, &stream_, queue.cq(), queue.cq(),
                          accept_.Arm(shared_from_this()));
}

void GrpcIncomingStream::Accepted(bool ok) {
  if (ok && doorkeeper_->Knock(shared_from_this())) ReadNext();
}

void GrpcIncomingStream::ReadNext() { stream_.Read(&incoming_, read_.Arm(shared_from_this())); }

void GrpcIncomingStream::Admit(std::shared_ptr<PeerLink> link, const EdgeIdentity& self) {
  link_ = std::move(link);
  hello_ = self;
  admitted_ = true;
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
  beat_ = true;
  Wake();
}

bool GrpcIncomingStream::Write(const ToSender& message) {
  stream_.Write(ToByteBuffer(Encode(message)), write_.Arm(shared_from_this()));
  return true;
}

bool GrpcIncomingStream::WriteNext() {
  if (!admitted_) return false;
  if (!answered_) {
    answered_ = true;
    return Write(hello_);
  }
  if (std::vector<Tag> tags = link_->TakeGrants(); !tags.empty()) {
    return Write(Grant{std::move(tags)});
  }
  if (beat_.exchange(false)) return Write(Heartbeat{round_()});
  return false;
}

void GrpcIncomingStream::Written(bool ok) {
  if (!ok) Disconnected();
  writes_.Written();
}

void GrpcIncomingStream::Read(bool ok) {
  if (!ok) return Disconnected();
  watch_.Heard();
  if (absl::Status status = Take(); !status.ok()) Violated(status);
  incoming_.Clear();
  if (!Ending()) ReadNext();
}

absl::Status GrpcIncomingStream::Take() {
  grpc::ProtoBufferReader reader(&incoming_);
  google::protobuf::io::CodedInputStream in(&reader);
  absl::StatusOr<ToReceiver> message =
      DecodeToReceiver(&in, static_cast<int64_t>(incoming_.Length()));
  if (!message.ok()) return message.status();
  if (auto* hello = std::get_if<EdgeIdentity>(&*message)) return Meet(std::move(*hello));
  if (!admitted_) return absl::InvalidArgumentError("did not introduce itself");
  if (const auto* chunk = std::get_if<ChunkHeader>(&*message)) return TakeChunk(*chunk, &in);
  if (const auto* heartbeat = std::get_if<Heartbeat>(&*message)) {
    watch_.HeardRound(heartbeat->round);
  } else {
    link_->IncomingEnded();
    Leave();
  }
  return absl::OkStatus();
}

absl::Status GrpcIncomingStream::Meet(EdgeIdentity peer) {
  if (introduced_) return absl::InvalidArgumentError("introduced itself twice");
  introduced_ = true;
  doorkeeper_->Introduce(shared_from_this(), std::move(peer));
  return absl::OkStatus();
}

absl::Status GrpcIncomingStream::TakeChunk(const ChunkHeader& chunk,
                                           google::protobuf::io::CodedInputStream* data) {
  absl::StatusOr<Landing> landing = link_->Accept(chunk);
  if (!landing.ok()) return landing.status();
  absl::StatusOr<uint32_t> crc32c = CopyChunkData(data, landing->into, chunk.size, landing->crc32c);
  if (!crc32c.ok()) return crc32c.status();
  watch_.HeardRound(chunk.tag.round);
  if (landing->landed) landing->landed(chunk.offset, chunk.size);
  *landing = {};  // before the sink hears of it
  return link_->Landed(chunk, *crc32c);
}

void GrpcIncomingStream::Violated(const absl::Status& how) {
  if (!admitted_) return doorkeeper_->TurnAway(*this, how);
  const absl::Status why(how.code(), absl::StrCat("rank ", link_->peer(), " (", address(), ") ",
                                                  std::string(how.message())));
  link_->Break(why);
  Abort(why);
}

bool GrpcIncomingStream::Ending() {
  MutexLock lock(mutex_);
  return end_.has_value();
}

void GrpcIncomingStream::Disconnected() {
  if (!Ending() && admitted_) {
    link_->IncomingBroke(
        absl::UnavailableError(absl::StrCat("rank ", link_->peer(), " (", address(),
                                            ") broke the connection off; ", watch_.Describe())));
  }
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
  const std::chrono::milliseconds silence = watch_.Tick(tick);
  if (!admitted_) {
    if (silence >= kHelloTimeout) {
      doorkeeper_->TurnAway(*this, absl::DeadlineExceededError("did not introduce itself in time"));
    }
    return;
  }
  if (silence < options.peer_timeout) return;
  link_->Break(SilentPeer(link_->peer(), address(), watch_, options.peer_timeout));
}

}  // namespace grapevine
