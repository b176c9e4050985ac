#include "algorithm/collective.h"

#include <glog/logging.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

int64_t Elements(const AllreduceStep::Ranges& ranges) {
  return ranges[0].size() + ranges[1].size();
}

// Bit i: range i is a message.
unsigned Messages(const AllreduceStep::Ranges& ranges) {
  return (ranges[0].size() > 0 ? 1u : 0u) | (ranges[1].size() > 0 ? 2u : 0u);
}

}  // namespace

Collective::Collective(std::unique_ptr<const AllreduceSchedule> schedule, uint16_t channel)
    : schedule_(std::move(schedule)), channel_(channel), level_(schedule_->levels()) {}

Tag Collective::StepTag(Round sum, int level, size_t range) const {
  return {channel_, sum, static_cast<uint32_t>(level + range * schedule_->levels())};
}

Part Collective::Own(const ElementRange& range) const {
  return {data_.vector, data_.offset + range.begin, range.size()};
}

void Collective::Prepare(int64_t elements, Host& host) {
  elements_ = elements;
  int64_t messages = 0;
  for (int level = 0; level < schedule_->reduce_levels(); ++level) {
    const int64_t received = Elements(Step(level).received);
    messages += received > 0 ? 1 : 0;
    slot_size_ = std::max(slot_size_, received);
  }
  if (messages == 0) return;
  // Two hide the latency of a credit where all ranks keep step; more are for those
  // that do not, where they cost little.
  const int64_t affordable = std::max(elements, kEagerElements) / slot_size_;
  const int64_t slots = std::min(messages, std::clamp<int64_t>(affordable, 2, kMaxAhead));
  scratch_ = host.New(slots * slot_size_, "an allreduce's partial sums");
  for (int64_t slot = slots; slot-- > 0;) free_slots_.push_back(slot * slot_size_);
  PostAhead(host);
}

void Collective::Begin(Part data, Host& host) {
  CHECK_EQ(data.size, elements_) << "a sum of another size than was prepared";
  CHECK(summed()) << "two sums at once";
  ++sum_;
  data_ = data;
  level_ = 0;
  sent_levels_ = 0;
  Advance(host);
}

absl::Status Collective::On(const Received& event, Host& host) {
  const int levels = std::max(schedule_->levels(), 1);
  const int level = static_cast<int>(event.tag.step % levels);
  const uint32_t range = event.tag.step / levels;
  const auto place = std::ranges::find_if(places_, [&](const Place& p) {
    return p.sum == event.tag.round && p.level == level && p.from == event.from;
  });
  if (place == places_.end() || range > 1 || (place->missing >> range & 1) == 0) {
    return Unexpected("came unposted from", event.from, event.tag);
  }
  place->missing &= ~(1u << range);
  Advance(host);
  return absl::OkStatus();
}

absl::Status Collective::On(const Sent& event, Host& host) {
  const auto sent = std::ranges::find_if(leaving_, [&](const Waiting& message) {
    return message.peer == event.to && message.tag == event.tag;
  });
  if (sent == leaving_.end()) return Unexpected("is not on its way to", event.to, event.tag);
  leaving_.erase(sent);
  Advance(host);
  return absl::OkStatus();
}

void Collective::Advance(Host& host) {
  for (; !summed(); ++level_) {
    const AllreduceStep step = Step(level_);
    if (sent_levels_ == level_ && !SendLevel(step, host)) break;
    if (!TakeInLevel(step, host)) break;
  }
  PostAhead(host);
}

bool Collective::SendLevel(const AllreduceStep& step, Host& host) {
  const unsigned messages = Messages(step.sent);
  if (messages != 0 && !leaving_.empty()) return false;
  for (size_t range = 0; range < step.sent.size(); ++range) {
    if ((messages >> range & 1) == 0) continue;
    const Tag tag = StepTag(sum_, level_, range);
    leaving_.push_back({step.to, tag});
    host.Send(step.to, tag, Own(step.sent[range]));
  }
  ++sent_levels_;
  return true;
}

bool Collective::TakeInLevel(const AllreduceStep& step, Host& host) {
  if (Messages(step.received) == 0) return true;
  if (places_.empty()) return false;
  const Place place = places_.front();
  if (place.sum != sum_ || place.level != level_ || place.missing != 0) return false;
  places_.pop_front();
  if (!Reduces(level_)) return true;
  int64_t arrived = place.slot;
  for (const ElementRange& range : step.received) {
    if (range.size() == 0) continue;
    const Part own = Own(range);
    const Term terms[] = {{1.0, {scratch_, arrived, range.size()}}, {1.0, own}};
    host.Combine(own, terms);
    arrived += range.size();
  }
  free_slots_.push_back(place.slot);
  return true;
}

void Collective::PostAhead(Host& host) {
  while (places_.size() < kMaxAhead) {
    if (posted_level_ == schedule_->levels()) {
      if (posted_sum_ > sum_) return;
      ++posted_sum_;
      posted_level_ = 0;
      continue;  // one rank alone has no level
    }
    const AllreduceStep step = Step(posted_level_);
    if (Messages(step.received) != 0 && !PostLevel(step, host)) return;
    ++posted_level_;
  }
}

bool Collective::PostLevel(const AllreduceStep& step, Host& host) {
  const bool reduces = Reduces(posted_level_);
  if (reduces ? free_slots_.empty()
              : posted_sum_ != sum_ || !HasLeft(schedule_->Mirror(posted_level_))) {
    return false;
  }
  Place place{.sum = posted_sum_,
              .level = posted_level_,
              .from = step.from,
              .slot = 0,
              .missing = Messages(step.received)};
  if (reduces) {
    place.slot = free_slots_.back();
    free_slots_.pop_back();
  }
  int64_t offset = place.slot;
  for (size_t range = 0; range < step.received.size(); ++range) {
    const int64_t size = step.received[range].size();
    if (size == 0) continue;
    host.Post(step.from, StepTag(posted_sum_, posted_level_, range),
              reduces ? Part{scratch_, offset, size} : Own(step.received[range]));
    offset += size;
  }
  places_.push_back(place);
  return true;
}

bool Collective::HasLeft(int level) const {
  if (level >= sent_levels_) return false;
  return std::ranges::none_of(leaving_, [&](const Waiting& message) {
    return message.tag == StepTag(sum_, level, 0) || message.tag == StepTag(sum_, level, 1);
  });
}

absl::Status Collective::Unexpected(const char* what, Rank peer, const Tag& tag) const {
  return absl::InternalError(absl::StrCat(schedule_->name(), ": step ", tag.step, " of sum ",
                                          tag.round, " ", what, " rank ", peer,
                                          "; under way is step ", level_, " of sum ", sum_));
}

std::vector<Waiting> Collective::waiting_for() const {
  std::vector<Waiting> waiting;
  if (summed()) return waiting;
  if (sent_levels_ == level_) waiting = leaving_;
  const AllreduceStep step = Step(level_);
  for (size_t range = 0; range < step.received.size(); ++range) {
    const bool arrived = !places_.empty() && places_.front().sum == sum_ &&
                         places_.front().level == level_ &&
                         (places_.front().missing >> range & 1) == 0;
    if (step.received[range].size() > 0 && !arrived) {
      waiting.push_back({step.from, StepTag(sum_, level_, range)});
    }
  }
  return waiting;
}

std::vector<Rank> Collective::Peers() const {
  std::set<Rank> peers;
  for (int level = 0; level < schedule_->reduce_levels(); ++level) {
    const AllreduceStep step = schedule_->ReduceStep(level, 0);
    if (step.to != kNobody) peers.insert(step.to);
    if (step.from != kNobody) peers.insert(step.from);
  }
  return {peers.begin(), peers.end()};
}

}  // namespace grapevine
