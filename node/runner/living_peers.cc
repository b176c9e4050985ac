#include "node/runner/living_peers.h"

#include <vector>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

// Ignores the loss of `peer` itself: it is settled when the peer is left out.
absl::Status Tolerated(absl::Status status, Rank peer) {
  return LostPeer(status) == peer ? absl::OkStatus() : status;
}

}  // namespace

void LivingPeers::LeaveOut(Rank peer) {
  {
    MutexLock lock(mutex_);
    if (!left_out_.insert(peer).second) return;
  }
  transport_->GiveUp(peer, absl::AbortedError(absl::StrCat("rank ", peer, " is out of the run")));
  EndAllOf(peer, &posts_, on_lost_);
  EndAllOf(peer, &untaken_, on_undelivered_);
}

void LivingPeers::TakeInWith(Rank peer, uint32_t epoch) {
  transport_->TakeIn(peer);
  MutexLock lock(mutex_);
  left_out_.erase(peer);
  since_[peer] = epoch;
}

void LivingPeers::EndAllOf(Rank peer, Messages* messages, const End& end) {
  std::vector<Tag> ended;
  {
    MutexLock lock(mutex_);
    std::erase_if(*messages, [&](const auto& message) {
      if (message.first != peer) return false;
      ended.push_back(message.second);
      return true;
    });
  }
  for (const Tag tag : ended) end(peer, tag);
}

bool LivingPeers::Begin(Rank peer, Tag tag, Messages* messages) {
  const std::optional<uint32_t> epoch = epoch_of_(tag);
  MutexLock lock(mutex_);
  if (left_out_.contains(peer)) return false;
  const auto since = since_.find(peer);
  if (since != since_.end() && epoch && *epoch < since->second) return false;
  messages->insert({peer, tag});
  return true;
}

bool LivingPeers::TakePost(Rank from, Tag tag) {
  MutexLock lock(mutex_);
  return posts_.erase({from, tag}) > 0;
}

bool LivingPeers::TakeSend(Rank to, Tag tag) {
  MutexLock lock(mutex_);
  return sends_.erase({to, tag}) > 0;
}

bool LivingPeers::Sends(Rank to, Tag tag) const {
  MutexLock lock(mutex_);
  return sends_.contains({to, tag});
}

bool LivingPeers::LeftOut(Rank peer) const {
  MutexLock lock(mutex_);
  return left_out_.contains(peer);
}

void LivingPeers::Dial(std::span<const Rank> peers) {
  std::vector<Rank> living;
  for (const Rank peer : peers) {
    if (!LeftOut(peer)) living.push_back(peer);
  }
  transport_->Dial(living);
}

absl::Status LivingPeers::Send(Rank to, Tag tag, Outgoing message) {
  if (!Begin(to, tag, &sends_)) {
    on_undelivered_(to, tag);
    return absl::OkStatus();
  }
  const absl::Status sent = transport_->Send(to, tag, std::move(message));
  if (sent.ok() || LostPeer(sent) != to) return sent;
  MutexLock lock(mutex_);
  sends_.erase({to, tag});
  untaken_.insert({to, tag});
  return absl::OkStatus();
}

absl::Status LivingPeers::Post(Rank from, Tag tag, Incoming buffer) {
  if (!Begin(from, tag, &posts_)) {
    on_lost_(from, tag);
    return absl::OkStatus();
  }
  return Tolerated(transport_->Post(from, tag, std::move(buffer)), from);
}

absl::Status LivingPeers::Decline(Rank from, Tag tag) {
  if (LeftOut(from)) return absl::OkStatus();
  return Tolerated(transport_->Decline(from, tag), from);
}

absl::Status LivingPeers::Withdraw(Rank from, Tag tag) {
  if (LeftOut(from)) return absl::OkStatus();
  return Tolerated(transport_->Withdraw(from, tag), from);
}

}  // namespace grapevine
