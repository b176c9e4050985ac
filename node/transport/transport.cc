#include "node/transport/transport.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

constexpr char kLostPeer[] = "grapevine/lost-peer";

}  // namespace

absl::Status WithLostPeer(absl::Status why, Rank peer) {
  why.SetPayload(kLostPeer, absl::Cord(absl::StrCat(peer)));
  return why;
}

std::optional<Rank> LostPeer(const absl::Status& status) {
  const auto payload = status.GetPayload(kLostPeer);
  Rank peer = 0;
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &peer)) return std::nullopt;
  return peer;
}

void SinkGate::Received(const grapevine::Received& message) {
  MutexLock lock(mutex_);
  if (sink_ != nullptr && !failed_.contains(message.from)) sink_->OnReceived(message);
}

void SinkGate::Left(Rank to, Tag tag) {
  MutexLock lock(mutex_);
  if (sink_ != nullptr && !failed_.contains(to)) sink_->OnLeft(to, tag);
}

void SinkGate::Sent(Rank to, Tag tag) {
  MutexLock lock(mutex_);
  if (sink_ != nullptr && !failed_.contains(to)) sink_->OnSent(to, tag);
}

void SinkGate::PeerFailed(Rank peer, const absl::Status& why) {
  MutexLock lock(mutex_);
  if (sink_ != nullptr && failed_.insert(peer).second) sink_->OnPeerFailed(peer, why);
}

void SinkGate::Close() {
  MutexLock lock(mutex_);
  sink_ = nullptr;
}

Outgoing Reported(Outgoing message, std::shared_ptr<SinkGate> gate, Rank to, Tag tag,
                  std::shared_ptr<void> held) {
  message.receipt =
      std::shared_ptr<void>(gate.get(), [gate, to, tag](void*) { gate->Sent(to, tag); });
  SharedBytes& bytes = message.bytes;
  void* const memory = bytes.owner.get();
  auto report = [owner = std::move(bytes.owner), held = std::move(held), gate = std::move(gate), to,
                 tag, receipt = message.receipt](void*) mutable {
    held.reset();
    owner.reset();
    gate->Left(to, tag);
    receipt.reset();
  };
  bytes.owner = std::shared_ptr<void>(memory, std::move(report));
  return message;
}

}  // namespace grapevine
