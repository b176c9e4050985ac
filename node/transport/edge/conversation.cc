#include "node/transport/edge/conversation.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "node/transport/edge/wire_format.h"
#include "node/transport/flow_control.h"

namespace grapevine {
namespace {

// Whether a connected stream that ends with `code` has broken, and another may follow. Once
// connected, gRPC reports a message that is too large as RESOURCE_EXHAUSTED, and the next
// connection would bring that message again.
bool HasBroken(absl::StatusCode code) {
  return MayComeAgain(code) && code != absl::StatusCode::kResourceExhausted;
}

bool MayBeMended(absl::StatusCode code) {
  return code == absl::StatusCode::kUnavailable || code == absl::StatusCode::kResourceExhausted;
}

// Whether `code` is one with which a receiver rejects a caller that it understands.
bool SaysMisfit(absl::StatusCode code) {
  return code == absl::StatusCode::kFailedPrecondition ||
         code == absl::StatusCode::kAlreadyExists || code == absl::StatusCode::kUnauthenticated;
}

// Returns the remedy for a refusal with `code`. A receiver says no more than kUnauthenticated to a
// caller that it does not believe.
std::string RemedyFor(absl::StatusCode code) {
  return code == absl::StatusCode::kUnauthenticated
             ? "; give every rank the same --token-file or GRAPEVINE_TOKEN"
             : "";
}

// The time that an unauthenticated caller has to say Hello.
constexpr std::chrono::milliseconds kHelloTimeout{10000};

}  // namespace

std::string SilenceWatch::Describe() const {
  const std::string ago =
      absl::StrFormat("last heard %.1f s ago", static_cast<double>(quiet_ms_.load()) / 1000);
  const Round round = round_.load();
  return round == kNoRound ? ago : absl::StrCat(ago, " in round ", round);
}

absl::Status SilentPeer(Rank peer, const std::string& address, const SilenceWatch& watch,
                        std::chrono::milliseconds timeout) {
  return absl::DeadlineExceededError(
      absl::StrFormat("rank %d (%s) is silent: %s; --peer-timeout is %.1f s", peer, address,
                      watch.Describe(), static_cast<double>(timeout.count()) / 1000));
}

std::optional<SendingEnd::Message> SendingEnd::Next() {
  if (!hello_written_) {
    hello_written_ = true;
    return Message{Encode(ToReceiver(context_.self))};
  }
  if (!connected_) return std::nullopt;
  if (beat_.exchange(false)) {
    return Message{Encode(ToReceiver(Heartbeat{context_.round()}))};
  }
  if (leaving_.exchange(false)) return Message{Encode(ToReceiver(Goodbye{}))};
  std::optional<PeerLink::Departing> next = context_.link->Next();
  if (!next.has_value()) return std::nullopt;
  if (auto* piece = std::get_if<Piece>(&*next)) return ChunkMessage(std::move(*piece));
  if (const auto* offer = std::get_if<Offer>(&*next)) return Message{Encode(ToReceiver(*offer))};
  return Message{Encode(ToReceiver(std::get<Withdrawn>(*next)))};
}

SendingEnd::Message SendingEnd::ChunkMessage(Piece piece) {
  ChunkHeader& header = piece.header;
  // The checksum goes on with every chunk, so that the chunk's bytes are in cache when they go to
  // the socket. Only the message holds its checksum: a stream may outlive the message that was
  // leaving.
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
  if (!connected_) return absl::InvalidArgumentError("sent no Hello");
  if (const auto* heartbeat = std::get_if<Heartbeat>(&message)) {
    watch_.HeardRound(heartbeat->round);
    return absl::OkStatus();
  }
  return context_.link->Granted(std::get<Grant>(message));
}

absl::Status SendingEnd::Meet(const EdgeIdentity& peer) {
  if (connected_) return absl::InvalidArgumentError("said Hello twice");
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
  if (peer.call.number != context_.self.call.number) {
    return absl::InvalidArgumentError("answers another call");
  }
  RETURN_IF_ERROR(context_.link->Resume(peer.call.process, peer.resume));
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
  if (connected_ && HasBroken(status.code())) {
    link.OutgoingBroke(why);
    return why;
  }
  const bool before = link.outgoing_interrupted();  // an earlier stream was connected
  const bool interrupted = before && MayComeAgain(status.code());
  if (interrupted) link.NotMended(status);
  if (!connected_ && (interrupted || MayBeMended(status.code()))) return why;
  const bool misfit = !connected_ && !before && SaysMisfit(status.code());
  link.Break(misfit ? WithFailure(why, Failure::kRendezvous) : why);
  return absl::OkStatus();
}

void ReceivingEnd::AnswerHello(const EdgeIdentity& self) {
  hello_ = self;
  authenticated_ = true;
}

absl::Status ReceivingEnd::Admit(std::shared_ptr<PeerLink> link) {
  MutexLock lock(mutex_);
  link_ = std::move(link);
  absl::Status status;
  for (const Offer& offer : std::exchange(early_, {})) status.Update(link_->Offered(offer));
  // Credits go out from here on, so that none goes out before the offers that it answers are taken.
  admitted_ = true;
  if (closed_) link_->IncomingClosed();
  return status;
}

absl::Status ReceivingEnd::TakeOffer(const Offer& offer) {
  {
    MutexLock lock(mutex_);
    if (!admitted_) {
      if (early_.size() >= Transport::kMaxQueued) return TooManyOffers();
      early_.push_back(offer);
      return absl::OkStatus();
    }
  }
  return link_->Offered(offer);
}

std::optional<ToSender> ReceivingEnd::Next() {
  if (!authenticated_) return std::nullopt;
  if (!answered_) {
    answered_ = true;
    return hello_;
  }
  if (admitted_) {
    if (std::optional<Grant> grant = link_->TakeGrant()) return *std::move(grant);
  }
  if (beat_.exchange(false)) return Heartbeat{context_.round()};
  return std::nullopt;
}

absl::Status ReceivingEnd::Hear(google::protobuf::io::ZeroCopyInputStream* in, int64_t size) {
  if (closed_) return absl::OkStatus();
  watch_.Heard();
  google::protobuf::io::CodedInputStream coded(in);
  ASSIGN_OR_RETURN(ToReceiver message, DecodeToReceiver(&coded, size));
  if (auto* hello = std::get_if<EdgeIdentity>(&message)) return Meet(std::move(*hello));
  if (!authenticated_) return absl::InvalidArgumentError("sent no Hello");
  if (const auto* heartbeat = std::get_if<Heartbeat>(&message)) {
    watch_.HeardRound(heartbeat->round);
    return absl::OkStatus();
  }
  if (std::holds_alternative<Goodbye>(message)) {
    if (admitted_) link_->IncomingEnded();
    context_.leave();
    return absl::OkStatus();
  }
  if (const auto* offer = std::get_if<Offer>(&message)) return TakeOffer(*offer);
  if (!admitted_) return absl::InvalidArgumentError("sent vectors before it was admitted");
  if (const auto* credit = std::get_if<Withdrawn>(&message)) return link_->Returned(*credit);
  return TakeChunk(std::get<ChunkHeader>(message), &coded);
}

absl::Status ReceivingEnd::Meet(EdgeIdentity caller) {
  if (hello_heard_) return absl::InvalidArgumentError("said Hello twice");
  hello_heard_ = true;
  context_.on_hello(std::move(caller));
  return absl::OkStatus();
}

absl::Status ReceivingEnd::TakeChunk(const ChunkHeader& chunk,
                                     google::protobuf::io::CodedInputStream* data) {
  ASSIGN_OR_RETURN(std::optional<Landing> landing, link_->Accept(chunk));
  if (!landing.has_value()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const uint32_t crc32c,
                   CopyChunkData(data, chunk, landing->into, landing->crc32c, landing->norm.get()));
  watch_.HeardRound(landing->round);
  if (landing->landed) landing->landed(chunk.offset, chunk.size);
  landing.reset();  // released before the sink hears of the message
  return link_->Landed(chunk, chunk.last() ? WithNote(crc32c, chunk.note) : crc32c);
}

absl::Status ReceivingEnd::Violated(const absl::Status& how, const std::string& address) {
  const absl::Status why(how.code(), absl::StrCat("rank ", link_->peer(), " (", address, ") ",
                                                  std::string(how.message())));
  link_->Break(why);
  return why;
}

void ReceivingEnd::Broke(const std::string& address) {
  link_->IncomingBroke(absl::UnavailableError(absl::StrCat(
      "rank ", link_->peer(), " (", address, ") broke off the connection; ", watch_.Describe())));
}

void ReceivingEnd::Closed() {
  MutexLock lock(mutex_);
  closed_ = true;
  if (admitted_) link_->IncomingClosed();
}

absl::Status ReceivingEnd::TickUnadmitted(std::chrono::milliseconds tick,
                                          std::chrono::milliseconds peer_timeout) {
  // A caller that waits for admission sends heartbeats.
  if (watch_.Tick(tick) < (authenticated_ ? peer_timeout : kHelloTimeout)) return absl::OkStatus();
  return absl::DeadlineExceededError("was silent for too long");
}

void ReceivingEnd::Tick(std::chrono::milliseconds tick, std::chrono::milliseconds peer_timeout,
                        const std::string& address) {
  if (watch_.Tick(tick) < peer_timeout) return;
  link_->Break(SilentPeer(link_->peer(), address, watch_, peer_timeout));
}

}  // namespace grapevine
