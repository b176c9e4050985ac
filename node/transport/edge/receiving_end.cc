#include "node/transport/edge/receiving_end.h"

#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "node/transport/edge/message_checksum.h"

namespace grapevine {
namespace {

// A stranger has so long to say who it is.
constexpr std::chrono::milliseconds kHelloTimeout{10000};

}  // namespace

void ReceivingEnd::Greet(const EdgeIdentity& self) {
  hello_ = self;
  greeted_ = true;
}

void ReceivingEnd::Admit(std::shared_ptr<PeerLink> link) {
  link_ = std::move(link);
  admitted_ = true;
}

std::optional<ToSender> ReceivingEnd::Next() {
  if (!greeted_) return std::nullopt;
  if (!answered_) {
    answered_ = true;
    return hello_;
  }
  for (const Credit credit : {Credit::kAtOnce, Credit::kInTurn}) {
    if (!admitted_) break;
    std::vector<Tag> tags = link_->TakeGrants(credit);
    if (!tags.empty()) return Grant{std::move(tags), credit};
  }
  if (beat_.exchange(false)) return Heartbeat{context_.round()};
  return std::nullopt;
}

absl::Status ReceivingEnd::Hear(google::protobuf::io::ZeroCopyInputStream* in, int64_t size) {
  watch_.Heard();
  google::protobuf::io::CodedInputStream coded(in);
  absl::StatusOr<ToReceiver> message = DecodeToReceiver(&coded, size);
  if (!message.ok()) return message.status();
  if (auto* hello = std::get_if<EdgeIdentity>(&*message)) return Meet(std::move(*hello));
  if (!greeted_) return absl::InvalidArgumentError("did not introduce itself");
  if (const auto* heartbeat = std::get_if<Heartbeat>(&*message)) {
    watch_.HeardRound(heartbeat->round);
    return absl::OkStatus();
  }
  if (const auto* chunk = std::get_if<ChunkHeader>(&*message)) {
    if (!admitted_) return absl::InvalidArgumentError("sent vectors before it was let in");
    return TakeChunk(*chunk, &coded);
  }
  if (admitted_) link_->IncomingEnded();
  context_.leave();
  return absl::OkStatus();
}

absl::Status ReceivingEnd::Meet(EdgeIdentity caller) {
  if (introduced_) return absl::InvalidArgumentError("introduced itself twice");
  introduced_ = true;
  context_.introduce(std::move(caller));
  return absl::OkStatus();
}

absl::Status ReceivingEnd::TakeChunk(const ChunkHeader& chunk,
                                     google::protobuf::io::CodedInputStream* data) {
  absl::StatusOr<Landing> landing = link_->Accept(chunk);
  if (!landing.ok()) return landing.status();
  absl::StatusOr<uint32_t> crc32c = CopyChunkData(data, chunk, landing->into, landing->crc32c);
  if (!crc32c.ok()) return crc32c.status();
  watch_.HeardRound(landing->round);
  if (landing->landed) landing->landed(chunk.offset, chunk.size);
  *landing = {};  // before the sink hears of it
  return link_->Landed(chunk, chunk.last() ? WithNote(*crc32c, chunk.note) : *crc32c);
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

absl::Status ReceivingEnd::TickAtDoor(std::chrono::milliseconds tick,
                                      std::chrono::milliseconds peer_timeout) {
  // Who waits at the door sends heartbeats.
  if (watch_.Tick(tick) < (greeted_ ? peer_timeout : kHelloTimeout)) return absl::OkStatus();
  return absl::DeadlineExceededError("was silent for too long");
}

void ReceivingEnd::Tick(std::chrono::milliseconds tick, std::chrono::milliseconds peer_timeout,
                        const std::string& address) {
  if (watch_.Tick(tick) < peer_timeout) return;
  link_->Break(SilentPeer(link_->peer(), address, watch_, peer_timeout));
}

}  // namespace grapevine
