#include "node/transport/send_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "algorithm/message.h"
#include "node/transport/transport.h"

namespace grapevine {
namespace {

// The pieces of a message in turn; the smallest is three packets. Whole cache lines, so that every
// piece is copied as fast as the first.
constexpr int64_t kShares = 16;
constexpr int64_t kSmallestShare = 4096;
constexpr int64_t kCacheLine = 64;

// Whether a notice is the offer of a message.
auto Offers(Tag tag) {
  return [tag](const Notice& notice) {
    const auto* offer = std::get_if<Offer>(&notice);
    return offer != nullptr && offer->tag == tag;
  };
}

}  // namespace

absl::Status SendQueue::Admits(Tag tag) const {
  if (waiting_.size() + ready_.size() + unacknowledged_.size() >= Transport::kMaxQueued) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "more than ", Transport::kMaxQueued, " messages to one peer have not been received"));
  }
  const auto has_tag = [tag](const auto& message) { return message.tag == tag; };
  if (waiting_.contains(tag) || std::ranges::any_of(ready_, has_tag) ||
      std::ranges::any_of(unacknowledged_, has_tag)) {
    return absl::AlreadyExistsError(absl::StrCat(Describe(tag), " is still in flight"));
  }
  return absl::OkStatus();
}

void SendQueue::Push(Tag tag, Outgoing message) {
  if (const auto credit = credits_.extract(tag)) {
    ready_.push_back({tag, std::move(message), credit.mapped()});
    return;
  }
  if (message.offered) notices_.push_back(Offer{tag, message.bytes.size, message.note});
  waiting_.emplace(tag, std::move(message));
}

absl::Status SendQueue::Grant(Tag tag, Credit credit) {
  if (auto message = waiting_.extract(tag)) {
    if (message.mapped().offered) std::erase_if(notices_, Offers(tag));
    ready_.push_back({tag, std::move(message.mapped()), credit});
    return absl::OkStatus();
  }
  if (credits_.size() >= Transport::kMaxQueued) {
    return absl::InvalidArgumentError(
        absl::StrCat("granted more than ", Transport::kMaxQueued, " messages ahead"));
  }
  if (!credits_.emplace(tag, credit).second) {
    return absl::InvalidArgumentError(absl::StrCat("granted ", Describe(tag), " twice"));
  }
  return absl::OkStatus();
}

absl::Status SendQueue::Decline(Tag tag) {
  const auto message = waiting_.find(tag);
  if (message == waiting_.end() || !message->second.offered ||
      std::ranges::any_of(notices_, Offers(tag))) {
    return absl::InvalidArgumentError(
        absl::StrCat("declined ", Describe(tag), ", which it is not offered"));
  }
  if (message->second.receipt != nullptr) message->second.receipt->Decline();
  waiting_.erase(message);
  return absl::OkStatus();
}

absl::Status SendQueue::Withdraw(Tag tag) {
  if (credits_.erase(tag) == 0) return absl::OkStatus();  // its message is on the way
  const auto untold = std::ranges::count_if(
      notices_, [](const Notice& notice) { return std::holds_alternative<Withdrawn>(notice); });
  if (untold >= Transport::kMaxQueued) {
    return absl::InvalidArgumentError(
        absl::StrCat("withdrew more than ", Transport::kMaxQueued, " posts ahead"));
  }
  notices_.push_back(Withdrawn{tag});
  return absl::OkStatus();
}

std::optional<Notice> SendQueue::NextNotice() {
  if (notices_.empty()) return std::nullopt;
  const Notice notice = notices_.front();
  notices_.pop_front();
  return notice;
}

absl::Status SendQueue::Acknowledge(uint64_t received) {
  const uint64_t departed = acknowledged_ + unacknowledged_.size();
  if (received <= acknowledged_ || received > departed) {
    return absl::InvalidArgumentError(absl::StrCat("acknowledged ", received,
                                                   " messages, but was sent ", departed,
                                                   " and had acknowledged ", acknowledged_));
  }
  for (; acknowledged_ < received; ++acknowledged_) unacknowledged_.pop_front();
  return absl::OkStatus();
}

int64_t SendQueue::MostOf(const Message& message) const {
  if (message.credit == Credit::kAtOnce) return chunk_bytes_;
  const int64_t share = (message.memory.bytes.size + kShares - 1) / kShares;
  const int64_t lines = (share + kCacheLine - 1) / kCacheLine;
  return std::min(chunk_bytes_, std::max(lines * kCacheLine, kSmallestShare));
}

int64_t SendQueue::NextSize() const {
  const Message& message = ready_.front();
  const int64_t left = message.memory.bytes.size - message.done;
  const int64_t size = std::min(MostOf(message), left);
  return message.done + size <= message.memory.ready() ? size : -1;
}

std::optional<Piece> SendQueue::Next() {
  if (!ready()) return std::nullopt;
  Message& message = ready_.front();
  const SharedBytes& bytes = message.memory.bytes;
  const int64_t size = NextSize();
  Piece piece;
  piece.header = {
      .tag = message.tag, .offset = message.done, .size = size, .total = bytes.size, .crc32c = {}};
  piece.message = bytes;
  piece.data = bytes.Within(message.done, size);
  message.done += size;
  if (piece.header.last()) {
    piece.header.note = message.memory.note;
    unacknowledged_.push_back({message.tag, std::move(message.memory.receipt)});
    ready_.pop_front();
  }
  return piece;
}

void SendQueue::Clear() {
  waiting_.clear();
  credits_.clear();
  notices_.clear();
  ready_.clear();
  unacknowledged_.clear();
}

}  // namespace grapevine
