#include "node/transport/receive_ledger.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "algorithm/message.h"
#include "node/transport/transport.h"

namespace grapevine {
namespace {

// The likely mistake is a peer a round ahead or behind: name what is open.
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
    post->second.offer = ++offers_heard_;  // the credit met the offer on its way
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
