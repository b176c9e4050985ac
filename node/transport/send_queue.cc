#include "node/transport/send_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "algorithm/message.h"
#include "node/transport/transport.h"

namespace grapevine {
namespace {

// Of a message in turn, and elements: three packets.
constexpr int64_t kShares = 16;
constexpr int64_t kSmallestShare = 1024;

}  // namespace

absl::Status SendQueue::Admits(Tag tag) const {
  if (waiting_.size() + ready_.size() >= Transport::kMaxQueued) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", Transport::kMaxQueued, " messages wait for one peer"));
  }
  const bool underway = std::any_of(ready_.begin(), ready_.end(),
                                    [tag](const Message& message) { return message.tag == tag; });
  if (underway || waiting_.contains(tag)) {
    return absl::AlreadyExistsError(absl::StrCat(Describe(tag), " is already being sent"));
  }
  return absl::OkStatus();
}

void SendQueue::Push(Tag tag, Outgoing message) {
  if (const auto credit = credits_.extract(tag)) {
    ready_.push_back({tag, std::move(message), credit.mapped()});
  } else {
    waiting_.emplace(tag, std::move(message));
  }
}

absl::Status SendQueue::Grant(Tag tag, Credit credit) {
  if (auto message = waiting_.extract(tag)) {
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

int64_t SendQueue::MostOf(const Message& message) const {
  if (message.credit == Credit::kAtOnce) return chunk_elements_;
  const int64_t share = (message.memory.slice.size + kShares - 1) / kShares;
  return std::min(chunk_elements_, std::max(share, kSmallestShare));
}

int64_t SendQueue::NextSize() const {
  const Message& message = ready_.front();
  const int64_t left = message.memory.slice.size - message.done;
  const int64_t size = std::min(MostOf(message), left);
  return message.done + size <= message.memory.ready() ? size : -1;
}

std::optional<Piece> SendQueue::Next() {
  if (!ready()) return std::nullopt;
  Message& message = ready_.front();
  const SharedSlice& slice = message.memory.slice;
  const int64_t size = NextSize();
  constexpr int64_t kElement = sizeof(float);
  Piece piece;
  piece.header = {message.tag, message.done * kElement, size * kElement, slice.bytes(), {}};
  piece.message = slice;
  piece.data = {slice.owner, slice.offset + message.done, size};
  message.done += size;
  if (piece.header.last()) ready_.pop_front();
  return piece;
}

void SendQueue::Clear() {
  waiting_.clear();
  credits_.clear();
  ready_.clear();
}

}  // namespace grapevine
