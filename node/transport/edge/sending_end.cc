#include "node/transport/edge/sending_end.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

bool MayBeMended(absl::StatusCode code) {
  return code == absl::StatusCode::kUnavailable || code == absl::StatusCode::kResourceExhausted;
}

// How a receiver rejects whom it understands.
bool SaysMisfit(absl::StatusCode code) {
  return code == absl::StatusCode::kFailedPrecondition ||
         code == absl::StatusCode::kAlreadyExists || code == absl::StatusCode::kUnauthenticated;
}

// A receiver says no more to whom it does not believe.
std::string RemedyFor(absl::StatusCode code) {
  return code == absl::StatusCode::kUnauthenticated
             ? "; give every rank the same --token-file or GRAPEVINE_TOKEN"
             : "";
}

}  // namespace

std::optional<SendingEnd::Message> SendingEnd::Next() {
  if (!introduced_) {
    introduced_ = true;
    return Message{Encode(ToReceiver(context_.self))};
  }
  if (!connected_) return std::nullopt;
  if (beat_.exchange(false)) {
    return Message{Encode(ToReceiver(Heartbeat{context_.round()}))};
  }
  if (leaving_.exchange(false)) return Message{Encode(ToReceiver(Goodbye{}))};
  if (std::optional<Piece> piece = context_.link->NextPiece()) {
    return ChunkMessage(*std::move(piece));
  }
  return std::nullopt;
}

SendingEnd::Message SendingEnd::ChunkMessage(Piece piece) {
  ChunkHeader& header = piece.header;
  // With every chunk, so that its bytes are in cache when they go to the socket.
  const uint32_t crc32c =
      context_.checksums->Of(piece.message)->Through(header.offset + header.size);
  if (header.last()) header.crc32c = WithNote(crc32c, header.note);
  return {Encode(ToReceiver(header)), std::move(piece.data)};
}

absl::Status SendingEnd::Hear(google::protobuf::io::ZeroCopyInputStream* in, int64_t size) {
  watch_.Heard();
  absl::StatusOr<ToSender> message = DecodeToSender(in, size);
  violation_ = message.ok() ? Take(*message) : message.status();
  return violation_;
}

absl::Status SendingEnd::Take(const ToSender& message) {
  if (const auto* hello = std::get_if<EdgeIdentity>(&message)) return Meet(*hello);
  if (!connected_) return absl::InvalidArgumentError("did not introduce itself");
  if (const auto* heartbeat = std::get_if<Heartbeat>(&message)) {
    watch_.HeardRound(heartbeat->round);
    return absl::OkStatus();
  }
  const auto& grant = std::get<Grant>(message);
  return context_.link->Granted(grant.tags, grant.credit);
}

absl::Status SendingEnd::Meet(const EdgeIdentity& peer) {
  if (connected_) return absl::InvalidArgumentError("introduced itself twice");
  if (!IsProven(peer, EdgeEnd::kAnswerer, context_.token)) {
    return WithFailure(absl::UnauthenticatedError(
                           "answers without the run's token; does something else listen there?"),
                       Failure::kRendezvous);
  }
  if (peer.rank != context_.link->peer()) {
    return WithFailure(absl::FailedPreconditionError(
                           absl::StrCat("answers as rank ", peer.rank, "; check the host file")),
                       Failure::kRendezvous);
  }
  RETURN_IF_ERROR(CheckSameRun(context_.self, peer));
  connected_ = true;
  return absl::OkStatus();
}

std::string SendingEnd::PeerName() const {
  return absl::StrCat("rank ", context_.link->peer(), " (", context_.address, ")");
}

absl::Status SendingEnd::Ended(const absl::Status& status) {
  PeerLink& link = *context_.link;
  if (!violation_.ok()) {
    link.Break(
        WithFailure(absl::Status(violation_.code(),
                                 absl::StrCat(PeerName(), " ", std::string(violation_.message()))),
                    FailureOf(violation_)));
    return absl::OkStatus();
  }
  if (status.ok()) {
    link.OutgoingEnded();
    return absl::OkStatus();
  }
  const absl::Status why(
      status.code(),
      absl::StrCat(PeerName(), connected_ ? " ended the connection: " : " refused the connection: ",
                   std::string(status.message()), RemedyFor(status.code()),
                   connected_ ? "; " + watch_.Describe() : ""));
  if (!connected_ && MayBeMended(status.code())) return why;
  link.Break(!connected_ && SaysMisfit(status.code()) ? WithFailure(why, Failure::kRendezvous)
                                                      : why);
  return absl::OkStatus();
}

}  // namespace grapevine
