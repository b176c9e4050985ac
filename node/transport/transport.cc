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

void SinkGate::Offered(const grapevine::Offered& offer) {
  MutexLock lock(mutex_);
  if (sink_ != nullptr && !failed_.contains(offer.from)) sink_->OnOffered(offer);
}

void SinkGate::Lost(Rank from, Tag tag) {
  MutexLock lock(mutex_);
  if (sink_ != nullptr && !failed_.contains(from)) sink_->OnLost(from, tag);
}

void SinkGate::Left(Rank to, Tag tag) {
  MutexLock lock(mutex_);
  if (sink_ != nullptr && !failed_.contains(to)) sink_->OnLeft(to, tag);
}

void SinkGate::Sent(Rank to, Tag tag) {
  MutexLock lock(mutex_);
  if (sink_ != nullptr && !EndUndelivered(to, tag)) sink_->OnSent(to, tag);
}

void SinkGate::Declined(Rank to, Tag tag) {
  MutexLock lock(mutex_);
  if (sink_ != nullptr && !EndUndelivered(to, tag)) sink_->OnDeclined(to, tag);
}

bool SinkGate::EndUndelivered(Rank to, Tag tag) {
  const auto found = failed_.find(to);
  if (found == failed_.end()) return false;
  if (found->second.given_up) {
    sink_->OnDeclined(to, tag);
  } else {
    found->second.ended.push_back(tag);
  }
  return true;
}

void SinkGate::GiveUp(Rank peer) {
  MutexLock lock(mutex_);
  FailedPeer& failed = failed_[peer];
  failed.given_up = true;
  if (sink_ == nullptr) return;
  for (const Tag tag : std::exchange(failed.ended, {})) sink_->OnDeclined(peer, tag);
}

void SinkGate::TakeIn(Rank peer) {
  MutexLock lock(mutex_);
  failed_.erase(peer);
}

void SinkGate::PeerFailed(Rank peer, const absl::Status& why) {
  MutexLock lock(mutex_);
  if (sink_ != nullptr && failed_.try_emplace(peer).second) sink_->OnPeerFailed(peer, why);
}

void SinkGate::Close() {
  MutexLock lock(mutex_);
  sink_ = nullptr;
}

namespace {

class SinkReceipt final : public Receipt {
 public:
  SinkReceipt(std::shared_ptr<SinkGate> gate, Rank to, Tag tag, std::shared_ptr<void> memory)
      : gate_(std::move(gate)), to_(to), tag_(tag), memory_(std::move(memory)) {}
  ~SinkReceipt() override {
    memory_.reset();
    declined() ? gate_->Declined(to_, tag_) : gate_->Sent(to_, tag_);
  }

  void Left() {
    if (!declined()) gate_->Left(to_, tag_);
  }

 private:
  const std::shared_ptr<SinkGate> gate_;
  const Rank to_;
  const Tag tag_;
  std::shared_ptr<void> memory_;
};

}  // namespace

Outgoing Reported(Outgoing message, std::shared_ptr<SinkGate> gate, Rank to, Tag tag,
                  std::shared_ptr<void> held) {
  SharedBytes& bytes = message.bytes;
  void* const memory = bytes.owner.get();
  auto receipt = std::make_shared<SinkReceipt>(std::move(gate), to, tag, std::move(bytes.owner));
  message.receipt = receipt;
  auto report = [held = std::move(held), receipt = std::move(receipt)](void*) mutable {
    held.reset();
    receipt->Left();
    receipt.reset();
  };
  bytes.owner = std::shared_ptr<void>(memory, std::move(report));
  return message;
}

}  // namespace grapevine
