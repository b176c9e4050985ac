#include "node/transport/flow_control.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "algorithm/message.h"
#include "base/status.h"
#include "node/transport/transport.h"

namespace grapevine {

namespace {

// Number of pieces of a message in turn. The smallest piece is three packets; pieces are whole
// cache lines, so that every piece is copied as fast as the first.
constexpr int64_t kShares = 16;
constexpr int64_t kSmallestShare = 4096;
constexpr int64_t kCacheLine = 64;

// Returns a predicate: whether a notice is the offer of the message with `tag`.
auto Offers(Tag tag) {
  return [tag](const Notice& notice) {
    const auto* offer = std::get_if<Offer>(&notice);
    return offer != nullptr && offer->tag == tag;
  };
}

// Lets the receipt of a message that has left as a whole keep its bytes, which may have to leave
// again.
void Keep(Outgoing* message) {
  if (message->receipt != nullptr) message->bytes.owner = message->receipt;
  message->written = nullptr;
}

void EndDeclined(const Outgoing& message) {
  if (message.receipt != nullptr) message.receipt->Decline();
}

absl::Status DeclinedAGrant(Tag tag) {
  return absl::InvalidArgumentError(
      absl::StrCat("declined ", Describe(tag), ", which it had granted"));
}

// Whether the receiver has heard the offer and has not ended it. Offer numbers begin at 1.
bool IsOpen(const ResumePoint& point, uint64_t offer) {
  return offer > 0 && offer <= point.offers &&
         std::ranges::find(point.open_offers, offer) != point.open_offers.end();
}

// Whether the receiver has ended the offer of a message that it has not received.
bool IsDeclined(const ResumePoint& point, uint64_t offer) {
  return offer > 0 && offer <= point.offers && !IsOpen(point, offer);
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
    ready_.push_back(
        {.tag = tag, .memory = std::move(message), .credit = credit.mapped(), .granted = true});
    return;
  }
  if (message.offered) notices_.push_back(Offer{tag, message.bytes.size, message.note});
  waiting_.emplace(tag, Message{.tag = tag, .memory = std::move(message)});
}

absl::Status SendQueue::Grant(Tag tag, Credit credit) {
  if (auto message = waiting_.extract(tag)) {
    if (message.mapped().memory.offered) std::erase_if(notices_, Offers(tag));
    message.mapped().credit = credit;
    message.mapped().granted = true;
    ready_.push_back(std::move(message.mapped()));
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
  if (message == waiting_.end() || message->second.offer == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("declined ", Describe(tag), ", which it is not offered"));
  }
  if (message->second.granted) return DeclinedAGrant(tag);
  EndDeclined(message->second.memory);
  waiting_.erase(message);
  return absl::OkStatus();
}

absl::Status SendQueue::Withdraw(Tag tag) {
  if (credits_.erase(tag) == 0) return absl::OkStatus();  // the message is on the way
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
  if (const auto* offer = std::get_if<Offer>(&notice)) waiting_.at(offer->tag).offer = ++offers_;
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

absl::Status SendQueue::Resume(const ResumePoint& point) {
  RETURN_IF_ERROR(CheckReceived(point.received));
  RETURN_IF_ERROR(CheckPartial(point));
  RETURN_IF_ERROR(CheckOffers(point));
  for (; acknowledged_ < point.received; ++acknowledged_) unacknowledged_.pop_front();
  TakeBack(point);
  OfferAgain(point);
  return absl::OkStatus();
}

absl::Status SendQueue::CheckReceived(uint64_t received) const {
  const uint64_t departed = acknowledged_ + unacknowledged_.size();
  if (received >= acknowledged_ && received <= departed) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("says that it has ", received,
                                                 " messages, but was sent ", departed,
                                                 " and had acknowledged ", acknowledged_));
}

std::vector<const SendQueue::Message*> SendQueue::Unfinished(uint64_t received) const {
  std::vector<const Message*> unfinished;
  for (size_t i = received - acknowledged_; i < unacknowledged_.size(); ++i) {
    unfinished.push_back(&unacknowledged_[i]);
  }
  for (const Message& message : ready_) unfinished.push_back(&message);
  return unfinished;
}

absl::Status SendQueue::CheckPartial(const ResumePoint& point) const {
  if (point.partial_bytes == 0) return absl::OkStatus();
  const std::vector<const Message*> unfinished = Unfinished(point.received);
  if (!unfinished.empty()) {
    const Message& next = *unfinished.front();
    const bool possible = point.partial_bytes > 0 && point.partial_bytes <= next.done &&
                          point.partial_bytes < next.memory.bytes.size &&
                          next.offer <= point.offers;
    if (next.tag == point.partial && possible) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("says that it has ", point.partial_bytes,
                                                 " bytes of ", Describe(point.partial),
                                                 ", which it was not sent"));
}

absl::Status SendQueue::CheckOffers(const ResumePoint& point) const {
  if (point.offers > offers_) {
    return absl::InvalidArgumentError(
        absl::StrCat("says that it was offered ", point.offers, " messages, of ", offers_));
  }
  size_t open = 0;
  for (const auto& [tag, message] : waiting_) {
    if (message.granted && IsDeclined(point, message.offer)) return DeclinedAGrant(tag);
    open += IsOpen(point, message.offer);
  }
  for (const Message* message : Unfinished(point.received)) {
    if (IsDeclined(point, message->offer)) return DeclinedAGrant(message->tag);
    open += IsOpen(point, message->offer);
  }
  if (open == point.open_offers.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("says that ", point.open_offers.size(),
                                                 " offers are open, of which ", open, " are"));
}

// Voids the credits of the last connection, which the receiver announces anew.
void SendQueue::TakeBack(const ResumePoint& point) {
  std::deque<Message> unfinished = std::exchange(unacknowledged_, {});
  for (Message& message : std::exchange(ready_, {})) unfinished.push_back(std::move(message));
  credits_.clear();
  if (point.partial_bytes > 0) {
    ready_.push_back(std::move(unfinished.front()));
    ready_.front().done = point.partial_bytes;
    unfinished.pop_front();
  }
  for (Message& message : unfinished) {
    message.done = 0;
    const Tag tag = message.tag;
    waiting_.emplace(tag, std::move(message));
  }
}

// Queues the offers anew, first those that were lost on their way, in their order.
void SendQueue::OfferAgain(const ResumePoint& point) {
  std::map<uint64_t, Notice> lost;
  std::deque<Notice> unsaid = std::exchange(notices_, {});
  for (auto entry = waiting_.begin(); entry != waiting_.end();) {
    Message& message = (entry++)->second;
    const Tag tag = message.tag;
    if (!message.memory.offered) continue;
    const Notice offer = Offer{tag, message.memory.bytes.size, message.memory.note};
    if (message.offer > point.offers) {
      lost.emplace(std::exchange(message.offer, 0), offer);
    } else if (IsDeclined(point, message.offer)) {
      EndDeclined(message.memory);
      waiting_.erase(tag);
    } else if (message.offer == 0 && std::ranges::none_of(unsaid, Offers(tag))) {
      unsaid.push_back(offer);  // the credit had come before the offer was sent, and is void
    }
  }
  for (const auto& [number, offer] : lost) notices_.push_back(offer);
  for (const Notice& notice : unsaid) {
    if (std::holds_alternative<Offer>(notice)) notices_.push_back(notice);
  }
  offers_ = point.offers;
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
    Keep(&message.memory);
    unacknowledged_.push_back(std::move(message));
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

namespace {

// Names what is open, because the likely mistake is a peer that is a round ahead or behind.
std::string NameFirst(const std::vector<Tag>& open) {
  if (open.empty()) return "nothing is posted for it";
  return absl::StrCat(open.size(), " posted for it, first ", Describe(open.front()));
}

}  // namespace

absl::Status ReceiveLedger::Post(Tag tag, Incoming buffer) {
  if (open_.size() >= Transport::kMaxQueued) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", Transport::kMaxQueued, " messages posted for one peer"));
  }
  const auto [post, added] = open_.try_emplace(tag, OpenPost{.memory = std::move(buffer)});
  if (!added) return absl::AlreadyExistsError(absl::StrCat(Describe(tag), " is already posted"));
  if (const auto offer = offers_.extract(tag)) post->second.offer = offer.mapped();
  return absl::OkStatus();
}

absl::Status TooManyOffers() {
  return absl::InvalidArgumentError(
      absl::StrCat("offered more than ", Transport::kMaxQueued, " messages at a time"));
}

absl::StatusOr<bool> ReceiveLedger::Take(const Offer& offer, size_t unheard) {
  const auto post = open_.find(offer.tag);
  if (offers_.contains(offer.tag) || (post != open_.end() && post->second.offer > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("offered ", Describe(offer.tag), " twice"));
  }
  if (post != open_.end() && post->second.filled > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("offered ", Describe(offer.tag), ", of which it has sent a part"));
  }
  if (post != open_.end()) {
    post->second.offer = ++offers_heard_;  // the credit and the offer have crossed on the way
    return false;
  }
  if (offers_.size() + unheard >= Transport::kMaxQueued) {
    return TooManyOffers();
  }
  offers_.emplace(offer.tag, ++offers_heard_);
  return true;
}

absl::Status ReceiveLedger::Decline(Tag tag) {
  if (offers_.erase(tag) > 0) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat(Describe(tag), " is not offered, or was answered"));
}

bool ReceiveLedger::Withdraw(Tag tag) {
  const auto found = open_.find(tag);
  if (found == open_.end() || found->second.withdrawn) return false;
  OpenPost& post = found->second;
  post.withdrawn = true;
  return !post.certain();
}

absl::StatusOr<Credit> ReceiveLedger::Return(Tag tag) {
  const auto found = open_.find(tag);
  if (found == open_.end() || !found->second.withdrawn) {
    return absl::InvalidArgumentError(
        absl::StrCat("returned the credit for ", Describe(tag), ", which was not withdrawn"));
  }
  if (found->second.certain()) {
    return absl::InvalidArgumentError(
        absl::StrCat("returned the credit for ", Describe(tag), ", which it has used"));
  }
  const Credit credit = found->second.memory.credit;
  open_.erase(found);
  return credit;
}

bool ReceiveLedger::withdrawn(Tag tag) const {
  const auto found = open_.find(tag);
  return found != open_.end() && found->second.withdrawn && !found->second.certain();
}

void ReceiveLedger::Announce(Tag tag) {
  const auto found = open_.find(tag);
  if (found != open_.end()) found->second.announced = ++announcements_;
}

void ReceiveLedger::Tell(Tag tag) {
  const auto found = open_.find(tag);
  if (found != open_.end()) found->second.told = true;
}

ResumePoint ReceiveLedger::Point() const {
  ResumePoint point{.offers = offers_heard_};
  for (const auto& [tag, number] : offers_) point.open_offers.push_back(number);
  for (const auto& [tag, post] : open_) {
    if (post.offer > 0) point.open_offers.push_back(post.offer);
    if (post.filled == 0) continue;
    point.partial = tag;
    point.partial_bytes = post.filled;
  }
  return point;
}

std::vector<std::pair<Tag, Credit>> ReceiveLedger::Announced() const {
  std::map<uint64_t, std::pair<Tag, Credit>> announced;
  for (const auto& [tag, post] : open_) {
    if (post.announced == 0 || post.filled > 0) continue;
    announced.emplace(post.announced, std::pair(tag, post.memory.credit));
  }
  std::vector<std::pair<Tag, Credit>> credits;
  for (const auto& [order, credit] : announced) credits.push_back(credit);
  return credits;
}

void ReceiveLedger::Clear() {
  open_.clear();
  offers_.clear();
}

absl::StatusOr<Landing> ReceiveLedger::Accept(const ChunkHeader& chunk) const {
  const auto found = open_.find(chunk.tag);
  if (found == open_.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("sent ", Describe(chunk.tag), " without a post; ", NameFirst(Open())));
  }
  const OpenPost& post = found->second;
  const int64_t least = post.filled > 0 ? post.total : post.memory.least;
  const int64_t most = post.filled > 0 ? post.total : post.memory.into.size;
  if (chunk.total < least || chunk.total > most) {
    const std::string range = least < most ? absl::StrCat(least, " to ") : "";
    return absl::InvalidArgumentError(absl::StrCat("sent ", Describe(chunk.tag), " with ",
                                                   chunk.total, " bytes, expected ", range, most));
  }
  if (chunk.offset != post.filled) {
    return absl::InvalidArgumentError(absl::StrCat("sent ", Describe(chunk.tag), " from byte ",
                                                   chunk.offset, ", expected byte ", post.filled));
  }
  const bool empty_part = chunk.size == 0 && chunk.total != 0;
  if (empty_part || chunk.size < 0 || chunk.size > chunk.total - post.filled) {
    return absl::InvalidArgumentError(absl::StrCat("sent a chunk of ", chunk.size, " bytes of ",
                                                   Describe(chunk.tag), ", of which ",
                                                   chunk.total - post.filled, " are missing"));
  }
  const SharedBytes& into = post.memory.into;
  return Landing{.owner = into.owner,
                 .into = into.begin + post.filled,
                 .crc32c = post.crc32c,
                 .round = post.memory.round,
                 .norm = post.memory.norm,
                 .landed = post.memory.landed};
}

absl::StatusOr<bool> ReceiveLedger::Landed(const ChunkHeader& chunk, uint32_t crc32c) {
  const auto found = open_.find(chunk.tag);
  if (found == open_.end()) return absl::CancelledError("the post was withdrawn");
  if (chunk.crc32c.has_value() && *chunk.crc32c != crc32c) {
    return absl::DataLossError(absl::StrFormat("sent %s with CRC-32C %08x, its bytes have %08x",
                                               Describe(chunk.tag), *chunk.crc32c, crc32c));
  }
  OpenPost& post = found->second;
  post.filled += chunk.size;
  post.total = chunk.total;
  post.crc32c = crc32c;
  if (!chunk.last()) return false;
  open_.erase(found);
  return true;
}

std::vector<Tag> ReceiveLedger::Open() const {
  std::vector<Tag> tags;
  tags.reserve(open_.size());
  for (const auto& [tag, post] : open_) tags.push_back(tag);
  return tags;
}

}  // namespace grapevine
