#include "algorithm/allreduce/collective.h"

#include <glog/logging.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {
namespace {

// Returns a mask whose bit i says that range i is a message.
unsigned Messages(const AllreduceStep::Ranges& ranges) {
  return (ranges[0].size() > 0 ? 1u : 0u) | (ranges[1].size() > 0 ? 2u : 0u);
}

bool Overlap(const AllreduceStep::Ranges& some, const AllreduceStep::Ranges& others) {
  for (const ElementRange& a : some) {
    for (const ElementRange& b : others) {
      if (std::max(a.begin, b.begin) < std::min(a.end, b.end)) return true;
    }
  }
  return false;
}

Part Slice(const Part& whole, const ElementRange& range) {
  return {whole.vector, whole.offset + range.begin, range.size()};
}

}  // namespace

int64_t LargestScratch(const Spec& spec, Rank size, int64_t elements) {
  SpecReader reader(spec);
  const absl::StatusOr<AllreduceFactory> make = ReadAllreduce(spec, reader, size);
  const bool exchanges = make.ok() && (*make)(0).front()->exchange_levels() > 0;
  const int64_t levels = std::bit_width(static_cast<unsigned>(size - 1));
  const int64_t small =
      std::min((exchanges ? 2 : 1) * levels * elements, Collective::kEagerElements);
  return std::max(2 * elements, small) + (exchanges && size == 2 ? elements : 0);
}

Collective::Collective(std::unique_ptr<const AllreduceSchedule> schedule, uint16_t channel,
                       LocalSteps steps)
    : schedule_(std::move(schedule)),
      channel_(channel),
      steps_(steps),
      sent_levels_(schedule_->levels()),
      taken_levels_(schedule_->levels()) {}

int64_t Collective::Elements(int level) const {
  const AllreduceStep::Ranges ranges = Step(level).received;
  return ranges[0].size() + ranges[1].size();
}

Tag Collective::StepTag(int64_t sum, int level, size_t range) const {
  return {channel_, steps_.RoundOf(sum),
          static_cast<uint32_t>(level + range * schedule_->levels())};
}

void Collective::Prepare(int64_t elements, Host& host, Round round) {
  elements_ = elements;
  const int64_t first = steps_.Before(round);
  sum_ = first - 1;
  for (Lane* lane : {&large_, &small_, &final_}) lane->sum = first;
  int64_t largest = 0;
  for (int level = 0; level < schedule_->levels() && Adds(level); ++level) {
    largest = std::max(largest, Elements(level));
  }
  for (int level = 0; level < schedule_->levels(); ++level) {
    const int64_t received = Elements(level);
    if (received == 0) continue;
    const bool large = 2 * received > largest + 1;  // halves may differ by one
    Lane& lane = !Adds(level) ? final_ : large ? large_ : small_;
    lane.levels.push_back(level);
  }
  final_.slots.resize(std::min<size_t>(final_.levels.size(), kMaxAhead));
  if (largest == 0) return;
  const int64_t small = MakeSlots(small_, kMaxAhead);
  // More than two large slots help ranks that do not keep step, and exist only where they cost
  // little. One large slot must do where small ones take the memory of the second.
  const int64_t affordable = (std::max({elements, 2 * largest, kEagerElements}) - small) / largest;
  // A sum lies in the slots of its exchanges until it ends: the credits of the next sum need other
  // slots.
  const auto twice = static_cast<int64_t>(2 * large_.levels.size());
  const bool exchanges = schedule_->exchange_levels() > 0;
  large_.sums = exchanges && twice * largest <= kEagerElements && twice <= kMaxAhead ? 2 : 1;
  const int64_t large = MakeSlots(large_, std::clamp<int64_t>(affordable, 1, kMaxAhead));
  scratch_ = host.New(small + large, "an allreduce's partial sums");
  for (Slot& slot : large_.slots) slot.begin += small;
  PostAhead(host);
}

size_t Collective::Lane::NextSlot() const {
  const size_t before = static_cast<size_t>(sum) % sums * levels.size();
  return (before + next) % slots.size();
}

int64_t Collective::MakeSlots(Lane& lane, int64_t most) {
  const size_t uses = lane.sums * lane.levels.size();
  lane.slots.resize(std::min(uses, static_cast<size_t>(most)));
  for (size_t i = 0; i < uses; ++i) {
    Slot& slot = lane.slots[i % lane.slots.size()];
    slot.size = std::max(slot.size, Elements(lane.levels[i % lane.levels.size()]));
  }
  int64_t end = 0;
  for (Slot& slot : lane.slots) {
    slot.begin = end;
    end += slot.size;
  }
  return end;
}

void Collective::Begin(Part data, Part into, bool in_place, Host& host) {
  CHECK_EQ(data.size, elements_) << "a sum of another size than was prepared";
  CHECK_EQ(into.size, elements_) << "a sum of another size than its data";
  CHECK(summed()) << "two sums at once";
  ++sum_;
  data_ = data;
  into_ = into;
  in_place_ = in_place;
  made_.clear();
  sent_levels_ = taken_levels_ = 0;
  Advance(host);
}

absl::Status Collective::EndPost(Rank from, const Tag& tag) {
  const int levels = std::max(schedule_->levels(), 1);
  const int level = static_cast<int>(tag.step % levels);
  const uint32_t range = tag.step / levels;
  const auto posted = std::ranges::find_if(posted_, [&](const Posted& p) {
    return steps_.RoundOf(p.sum) == tag.index && p.level == level && p.from == from;
  });
  if (posted == posted_.end() || range > 1 || (posted->missing >> range & 1) == 0) {
    return Unposted(from, tag);
  }
  posted->missing &= ~(1u << range);
  if (given_up_ && posted->missing == 0) posted_.erase(posted);
  return absl::OkStatus();
}

absl::Status Collective::On(const Received& event, Host& host) {
  RETURN_IF_ERROR(EndPost(event.from, event.tag));
  Advance(host);
  return absl::OkStatus();
}

absl::Status Collective::On(const Lost& event) {
  return given_up_ ? EndPost(event.from, event.tag) : CheckForeseen(event);
}

void Collective::GiveUp(Host& host) {
  given_up_ = true;
  std::erase_if(posted_, [](const Posted& posted) { return posted.missing == 0; });
  for (const Waiting& post : OpenPosts()) host.Withdraw(post.peer, post.tag);
}

void Collective::End(Host& host) {
  if (scratch_) host.Drop(std::exchange(scratch_, Vec{}));
}

bool Collective::On(const Left& event, Host& host) {
  const auto sent = std::ranges::find(unsent_, event.id, &Unsent::id);
  if (sent == unsent_.end()) return false;
  sent->left = true;
  Advance(host);
  return true;
}

bool Collective::On(const Sent& event, Host& host) {
  const auto sent = std::ranges::find(unsent_, event.id, &Unsent::id);
  if (sent == unsent_.end()) return false;
  Slot* const source = sent->source;
  unsent_.erase(sent);
  FreeIfUnused(source);
  Advance(host);
  return true;
}

bool Collective::leaving() const {
  return std::ranges::any_of(unsent_, [](const Unsent& sent) { return !sent.left; });
}

void Collective::Advance(Host& host) {
  if (given_up_) return;
  // Sends what can be sent before it adds more.
  while (SendLevel(host) || TakeInLevel(host)) {
  }
  PostAhead(host);
}

bool Collective::SendLevel(Host& host) {
  if (sent_levels_ == schedule_->levels()) return false;
  const AllreduceStep step = Step(sent_levels_);
  const unsigned messages = Messages(step.sent);
  if (messages != 0 && (leaving() || !Complete(step.sent))) return false;
  for (size_t range = 0; range < step.sent.size(); ++range) {
    if ((messages >> range & 1) == 0) continue;
    const Tag tag = StepTag(sum_, sent_levels_, range);
    const SendId id = host.Send(step.to, tag, Own(step.sent[range], host));
    unsent_.push_back({.id = id, .message = {step.to, tag}, .source = source_});
  }
  ++sent_levels_;
  return true;
}

bool Collective::Complete(const AllreduceStep::Ranges& sent) const {
  for (int level = taken_levels_; level < sent_levels_; ++level) {
    if (Overlap(Step(level).received, sent)) return false;
  }
  return true;
}

bool Collective::TakeInLevel(Host& host) {
  const int level = taken_levels_;
  if (level == schedule_->levels()) return false;
  const AllreduceStep step = Step(level);
  if (Messages(step.received) == 0) {
    ++taken_levels_;
    return true;
  }
  const auto posted = FindPosted(sum_, level);
  if (posted == posted_.end() || posted->missing != 0 || !MayAdd(level)) return false;
  Slot& slot = *posted->slot;
  posted_.erase(posted);
  if (schedule_->Exchanges(level)) {
    AddBeside(slot, LastExchange(level), host);
  } else {
    slot.taken = false;
    if (Adds(level)) Add(step.received, slot, host);
    for (const ElementRange& range : step.received) MarkMade(range);
  }
  ++taken_levels_;
  return true;
}

bool Collective::MayAdd(int level) const {
  if (!schedule_->Exchanges(level)) return true;
  return level < sent_levels_ &&
         !(OverwritesData(level) &&
           std::ranges::any_of(unsent_, [&](const Unsent& sent) { return FromData(sent); }));
}

void Collective::Add(const AllreduceStep::Ranges& received, const Slot& slot, Host& host) {
  int64_t arrived = slot.begin;
  for (const ElementRange& range : received) {
    if (range.size() == 0) continue;
    const Term terms[] = {{1.0, {scratch_, arrived, range.size()}}, {1.0, Own(range, host)}};
    host.Combine(Slice(into_, range), terms);
    arrived += range.size();
  }
}

void Collective::AddBeside(Slot& slot, bool last, Host& host) {
  const Part arrived = {scratch_, slot.begin, elements_};
  const Part sum = last ? into_ : arrived;
  const Term terms[] = {{1.0, arrived}, {1.0, Own({0, elements_}, host)}};
  host.Combine(sum, terms);
  slot_sum_ = sum;
  if (last) MarkMade({0, elements_});
  slot.taken = !last;
  FreeIfUnused(std::exchange(source_, last ? nullptr : &slot));
}

Part Collective::Own(const ElementRange& range, Host& host) {
  if (source_ != nullptr) return Slice(slot_sum_, range);
  auto made = made_.lower_bound(range.end);
  const bool there = made != made_.begin() && (--made)->second > range.begin;
  if (!there) return Slice(data_, range);
  if (range.begin < made->first || made->second < range.end) MakeRest(range, host);
  return Slice(into_, range);
}

void Collective::MakeRest(const ElementRange& range, Host& host) {
  int64_t begin = range.begin;
  while (begin < range.end) {
    const auto next = made_.upper_bound(begin);
    if (next != made_.begin() && std::prev(next)->second > begin) {
      begin = std::prev(next)->second;
      continue;
    }
    const ElementRange rest{begin,
                            next == made_.end() ? range.end : std::min(next->first, range.end)};
    const Term own{1.0, Slice(data_, rest)};
    host.Combine(Slice(into_, rest), {&own, 1});
    MarkMade(rest);
    begin = rest.end;
  }
}

void Collective::MarkMade(const ElementRange& range) {
  if (in_place_ || range.size() == 0) return;
  auto at = made_.upper_bound(range.begin);
  if (at != made_.begin() && std::prev(at)->second >= range.begin) {
    --at;
    at->second = std::max(at->second, range.end);
  } else {
    at = made_.emplace_hint(at, range.begin, range.end);
  }
  for (auto next = std::next(at); next != made_.end() && next->first <= at->second;) {
    at->second = std::max(at->second, next->second);
    next = made_.erase(next);
  }
}

void Collective::FreeIfUnused(Slot* slot) {
  const bool used = slot == nullptr || slot == source_ ||
                    std::ranges::find(unsent_, slot, &Unsent::source) != unsent_.end();
  if (!used) slot->taken = false;
}

void Collective::PostAhead(Host& host) {
  for (Lane* lane : {&final_, &large_, &small_}) {
    while (PostNext(*lane, host)) {
    }
  }
}

bool Collective::PostNext(Lane& lane, Host& host) {
  if (lane.levels.empty()) return false;
  const int level = lane.levels[lane.next];
  const bool adds = Adds(level);
  Slot& slot = lane.slots[lane.NextSlot()];
  const bool may_be = adds ? lane.sum <= sum_ + 1 : lane.sum == sum_ && MayArriveInPlace(level);
  if (slot.taken || !may_be) return false;
  slot.taken = true;
  const AllreduceStep step = Step(level);
  int64_t offset = slot.begin;
  for (size_t range = 0; range < step.received.size(); ++range) {
    const int64_t size = step.received[range].size();
    if (size == 0) continue;
    host.Post(step.from, StepTag(lane.sum, level, range),
              adds ? Part{scratch_, offset, size} : Slice(into_, step.received[range]),
              steps_.RoundOf(lane.sum));
    offset += size;
  }
  posted_.push_back({.sum = lane.sum,
                     .level = level,
                     .from = step.from,
                     .slot = &slot,
                     .missing = Messages(step.received)});
  if (++lane.next == lane.levels.size()) {
    lane.next = 0;
    ++lane.sum;
  }
  return true;
}

std::vector<Collective::Posted>::const_iterator Collective::FindPosted(int64_t sum,
                                                                       int level) const {
  return std::ranges::find_if(
      posted_, [&](const Posted& posted) { return posted.sum == sum && posted.level == level; });
}

bool Collective::MayArriveInPlace(int level) const {
  return HasLeft(schedule_->SentIn(level - schedule_->first_levels()));
}

bool Collective::HasLeft(int level) const {
  if (level >= sent_levels_) return false;
  return std::ranges::none_of(unsent_, [&](const Unsent& sent) {
    const Tag& tag = sent.message.tag;
    return !sent.left && (tag == StepTag(sum_, level, 0) || tag == StepTag(sum_, level, 1));
  });
}

bool Collective::FromData(const Unsent& sent) const {
  return sent.source == nullptr && sent.message.tag.index == steps_.RoundOf(sum_);
}

absl::Status Collective::Unposted(Rank from, const Tag& tag) const {
  return absl::InternalError(absl::StrCat(schedule_->name(), ": step ", tag.step, " of round ",
                                          tag.index, " came without a post from rank ", from,
                                          "; under way is step ", taken_levels_, " of round ",
                                          steps_.RoundOf(sum_)));
}

std::vector<Waiting> Collective::OpenPosts() const {
  std::vector<Waiting> open;
  for (const Posted& posted : posted_) {
    for (size_t range = 0; range < AllreduceStep::Ranges().size(); ++range) {
      if ((posted.missing >> range & 1) == 0) continue;
      open.push_back({posted.from, StepTag(posted.sum, posted.level, range)});
    }
  }
  return open;
}

std::vector<Waiting> Collective::waiting_for() const {
  std::vector<Waiting> waiting;
  if (given_up_) {
    waiting = OpenPosts();
    for (const Unsent& sent : unsent_) waiting.push_back(sent.message);
    return waiting;
  }
  const bool sends = sent_levels_ < schedule_->levels() && Complete(Step(sent_levels_).sent);
  for (const Unsent& sent : unsent_) {
    const bool awaited =
        summed() || (sends && !sent.left) || (OverwritesData(taken_levels_) && FromData(sent));
    if (awaited) waiting.push_back(sent.message);
  }
  if (taken_levels_ == schedule_->levels()) return waiting;
  const AllreduceStep step = Step(taken_levels_);
  const auto posted = FindPosted(sum_, taken_levels_);
  for (size_t range = 0; range < step.received.size(); ++range) {
    const bool arrived = posted != posted_.end() && (posted->missing >> range & 1) == 0;
    if (step.received[range].size() > 0 && !arrived) {
      waiting.push_back({step.from, StepTag(sum_, taken_levels_, range)});
    }
  }
  return waiting;
}

std::vector<Rank> Collective::Peers() const {
  std::set<Rank> peers;
  for (int level = 0; level < schedule_->levels(); ++level) {
    const AllreduceStep step = schedule_->Step(level, 0);
    if (step.to != kNobody) peers.insert(step.to);
    if (step.from != kNobody) peers.insert(step.from);
  }
  return {peers.begin(), peers.end()};
}

namespace {

absl::Status NotOnItsWay(SendId id) {
  return absl::InternalError(
      absl::StrCat("send ", id.id, " was reported; no bucket has it on its way"));
}

}  // namespace

BucketedSum::BucketedSum(std::vector<AllreduceSchedules> buckets, uint16_t first_channel,
                         LocalSteps steps)
    : first_channel_(first_channel), steps_(steps), parts_of_bucket_(buckets.front().size()) {
  for (AllreduceSchedules& bucket : buckets) {
    CHECK_EQ(bucket.size(), parts_of_bucket_) << "a bucket with other parts";
    for (auto& schedule : bucket) {
      const auto channel = static_cast<uint16_t>(first_channel + parts_.size());
      parts_.push_back({std::make_unique<Collective>(std::move(schedule), channel, steps)});
    }
  }
  begun_ = parts_.size();
}

void BucketedSum::Prepare(int64_t elements, Host& host, Round round) {
  const auto count = static_cast<int64_t>(parts_.size());
  const auto of_bucket = static_cast<int64_t>(parts_of_bucket_);
  for (int64_t i = 0; i < count; ++i) {
    Part& part = parts_[i];
    const int64_t last = i - i % of_bucket + of_bucket - 1;  // the last part of the bucket
    part.begin = elements * (count - 1 - i) / count;
    part.end = elements * (count - i) / count;
    part.bucket = elements * (count - 1 - last) / count;
    part.sum->Prepare(part.end - part.begin, host, round);
    // Some buckets are empty where there are fewer elements than buckets.
    if (i == last && part.begin > 0 && part.begin < part.end) cuts_.push_back(part.begin);
  }
}

void BucketedSum::Begin(Vec data, Vec into, bool in_place) {
  data_ = data;
  into_ = into;
  in_place_ = in_place;
  begun_ = 0;
}

void BucketedSum::OnReady(int64_t from, Host& host) {
  for (; begun_ < parts_.size() && parts_[begun_].bucket >= from; ++begun_) {
    const Part& part = parts_[begun_];
    const int64_t size = part.end - part.begin;
    const grapevine::Part data{data_, part.begin, size};
    if (in_place_) {
      part.sum->Begin(data, host);
    } else {
      part.sum->Begin(data, {into_, part.begin, size}, host);
    }
  }
}

absl::StatusOr<Collective*> BucketedSum::Find(Rank from, const Tag& tag) const {
  const int index = tag.channel - first_channel_;
  if (index >= 0 && index < static_cast<int>(parts_.size())) return parts_[index].sum.get();
  return absl::InternalError(absl::StrCat("a message of rank ", from, " came on channel ",
                                          tag.channel, ", where no bucket is summed"));
}

absl::Status BucketedSum::On(const Received& event, Host& host) {
  ASSIGN_OR_RETURN(Collective* const sum, Find(event.from, event.tag));
  return sum->On(event, host);
}

absl::Status BucketedSum::On(const Lost& event) {
  ASSIGN_OR_RETURN(Collective* const sum, Find(event.from, event.tag));
  return sum->On(event);
}

void BucketedSum::GiveUp(Host& host) {
  for (const Part& part : parts_) part.sum->GiveUp(host);
}

bool BucketedSum::ended() const {
  return std::ranges::all_of(parts_, [](const Part& part) { return part.sum->ended(); });
}

void BucketedSum::End(Host& host) {
  for (const Part& part : parts_) part.sum->End(host);
}

absl::Status BucketedSum::On(const Left& event, Host& host) {
  for (const Part& part : parts_) {
    if (part.sum->On(event, host)) return absl::OkStatus();
  }
  return NotOnItsWay(event.id);
}

absl::Status BucketedSum::On(const Sent& event, Host& host) {
  for (const Part& part : parts_) {
    if (part.sum->On(event, host)) return absl::OkStatus();
  }
  return NotOnItsWay(event.id);
}

bool BucketedSum::summed() const {
  return begun_ == parts_.size() &&
         std::ranges::all_of(parts_, [](const Part& part) { return part.sum->summed(); });
}

bool BucketedSum::idle() const {
  return begun_ == parts_.size() &&
         std::ranges::all_of(parts_, [](const Part& part) { return part.sum->idle(); });
}

std::vector<Waiting> BucketedSum::waiting_for() const {
  std::vector<Waiting> waiting;
  for (const Part& part : parts_) {
    // A part that is done waits for nothing but the other parts.
    if (part.sum->summed() && !part.sum->given_up() && !summed()) continue;
    const std::vector<Waiting> of_part = part.sum->waiting_for();
    waiting.insert(waiting.end(), of_part.begin(), of_part.end());
  }
  return waiting;
}

std::vector<Rank> BucketedSum::Peers() const {
  std::set<Rank> peers;
  for (size_t part = 0; part < parts_of_bucket_; ++part) {
    const std::vector<Rank> of_part = parts_[part].sum->Peers();
    peers.insert(of_part.begin(), of_part.end());
  }
  return {peers.begin(), peers.end()};
}

}  // namespace grapevine
