#include "node/grpc_outgoing_stream.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "node/grpc_bytes.h"
#include "run/failure.h"

namespace grapevine {
namespace {

constexpr char kMethod[] = "/grapevine.gossip.Gossip/Exchange";

bool MayBeMended(grpc::StatusCode code) {
  return code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::RESOURCE_EXHAUSTED;
}

// How GrpcGossipService turns away whom it understands.
bool SaysMisfit(grpc::StatusCode code) {
  return code == grpc::StatusCode::FAILED_PRECONDITION || code == grpc::StatusCode::ALREADY_EXISTS;
}

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
  if (!connected_) return Cancel();
  leaving_ = true;
  Wake();
}

void GrpcOutgoingStream::Beat() {
  beat_ = true;
  Wake();
}

bool GrpcOutgoingStream::Write(const grpc::ByteBuffer& message) {
  stream_->Write(message, write_.Arm(shared_from_this()));
  return true;
}

bool GrpcOutgoingStream::WriteNext() {
  if (!started_) return false;
  if (!introduced_) {
    introduced_ = true;
    return Write(ToByteBuffer(Encode(ToReceiver(context_.self))));
  }
  if (!connected_) return false;
  if (beat_.exchange(false)) {
    return Write(ToByteBuffer(Encode(ToReceiver(Heartbeat{context_.round()}))));
  }
  if (leaving_.exchange(false)) return Write(ToByteBuffer(Encode(ToReceiver(Goodbye{}))));
  if (std::optional<Piece> piece = context_.link->NextPiece()) {
    return Write(ChunkMessage(*std::move(piece)));
  }
  return false;
}

grpc::ByteBuffer GrpcOutgoingStream::ChunkMessage(Piece piece) {
  ChunkHeader& header = piece.header;
  // With every chunk, so that its bytes are in cache when they go to the socket.
  const uint32_t crc32c =
      context_.checksums->Of(piece.message)->Through(header.offset + header.size);
  if (header.last()) header.crc32c = crc32c;
  return ToByteBuffer(Encode(ToReceiver(header)), piece.data);
}

void GrpcOutgoingStream::Written(bool ok) {
  if (!ok) writes_.Close();
  writes_.Written();
}

absl::Status GrpcOutgoingStream::Meet(const EdgeIdentity& peer) {
  if (connected_) return absl::InvalidArgumentError("introduced itself twice");
  if (peer.rank != context_.link->peer()) {
    return WithFailure(absl::FailedPreconditionError(
                           absl::StrCat("answers as rank ", peer.rank, "; check the host file")),
                       Failure::kRendezvous);
  }
  if (absl::Status status = CheckSameRun(context_.self, peer); !status.ok()) return status;
  connected_ = true;
  return absl::OkStatus();
}

absl::Status GrpcOutgoingStream::Take(const ToSender& message) {
  if (const auto* hello = std::get_if<EdgeIdentity>(&message)) return Meet(*hello);
  if (!connected_) return absl::InvalidArgumentError("did not introduce itself");
  if (const auto* heartbeat = std::get_if<Heartbeat>(&message)) {
    watch_.HeardRound(heartbeat->round);
    return absl::OkStatus();
  }
  return context_.link->Granted(std::get<Grant>(message).tags);
}

void GrpcOutgoingStream::ReadNext() { stream_->Read(&incoming_, read_.Arm(shared_from_this())); }

void GrpcOutgoingStream::Read(bool ok) {
  if (!ok) return writes_.Close();
  watch_.Heard();
  grpc::ProtoBufferReader reader(&incoming_);
  absl::StatusOr<ToSender> message =
      DecodeToSender(&reader, static_cast<int64_t>(incoming_.Length()));
  violation_ = message.ok() ? Take(*message) : message.status();
  if (!violation_.ok()) {
    Cancel();
    return writes_.Close();
  }
  ReadNext();
  Wake();
}

std::string GrpcOutgoingStream::PeerName() const {
  return absl::StrCat("rank ", context_.link->peer(), " (", context_.address, ")");
}

void GrpcOutgoingStream::Finish() { stream_->Finish(&status_, finish_.Arm(shared_from_this())); }

void GrpcOutgoingStream::Report() {
  if (!violation_.ok()) {
    return context_.link->Break(
        WithFailure(absl::Status(violation_.code(),
                                 absl::StrCat(PeerName(), " ", std::string(violation_.message()))),
                    FailureOf(violation_)));
  }
  if (status_.ok()) return context_.link->OutgoingEnded();
  const absl::Status why(
      static_cast<absl::StatusCode>(status_.error_code()),
      absl::StrCat(PeerName(), connected_ ? " ended the connection: " : " refused the connection: ",
                   status_.error_message(), connected_ ? "; " + watch_.Describe() : ""));
  if (connected_) return context_.link->Break(why);
  if (MayBeMended(status_.error_code())) return context_.retry(why);
  context_.link->Break(SaysMisfit(status_.error_code()) ? WithFailure(why, Failure::kRendezvous)
                                                        : why);
}

void GrpcOutgoingStream::Finished() {
  Report();
  context_.done();
}

}  // namespace grapevine
