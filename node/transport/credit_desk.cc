#include "node/transport/credit_desk.h"

#include <algorithm>
#include <limits>

#include "base/units.h"

namespace grapevine {

void ArrivalMeter::Announced(Rank from, Tag tag, Time now) {
  arrivals_[{from, tag}] = {.announced = now, .first = {}};
}

void ArrivalMeter::Landed(Rank from, Tag tag, int64_t bytes, bool last, Time now) {
  all_ += bytes;
  const auto found = arrivals_.find({from, tag});
  if (found == arrivals_.end()) return;
  Arrival& arrival = found->second;
  arrival.bytes += bytes;
  if (!arrival.first.has_value()) {
    arrival.first = now;
    arrival.first_bytes = bytes;
    arrival.all_at_first = all_;
  }
  if (!last) return;
  Measure(from, arrival, now);
  arrivals_.erase(found);
}

void ArrivalMeter::Measure(Rank from, const Arrival& arrival, Time now) {
  const double lasted = Seconds(now - *arrival.first);
  const int64_t after_first = arrival.bytes - arrival.first_bytes;
  if (lasted <= 0 || after_first <= 0) return;
  std::deque<double>& rates = rates_[from];
  rates.push_back(static_cast<double>(all_ - arrival.all_at_first) / lasted);
  if (rates.size() > kRates) rates.pop_front();
  // The first chunk took its share of the time to arrive, too.
  const double first_lasted =
      lasted * static_cast<double>(arrival.first_bytes) / static_cast<double>(after_first);
  const double trip = std::max(0.0, Seconds(*arrival.first - arrival.announced) - first_lasted);
  const auto [known, added] = round_trips_.try_emplace(from, trip);
  if (!added) known->second = std::min(known->second, trip);
}

void ArrivalMeter::Forget(Rank from, Tag tag) { arrivals_.erase({from, tag}); }

void ArrivalMeter::Forget(Rank from) {
  std::erase_if(arrivals_, [from](const auto& arrival) { return arrival.first.first == from; });
}

double ArrivalMeter::SlowestRate(Rank from) const {
  if (const auto known = rates_.find(from); known != rates_.end()) {
    return std::ranges::min(known->second);
  }
  double slowest = std::numeric_limits<double>::infinity();
  for (const auto& [peer, rates] : rates_) slowest = std::min(slowest, std::ranges::min(rates));
  return slowest;
}

double ArrivalMeter::BytesWhileACreditTravels(Rank to, Rank from) const {
  if (rates_.empty()) return 0;
  auto trip = round_trips_.find(to);
  if (trip == round_trips_.end()) {
    trip = std::ranges::min_element(round_trips_, {}, [](const auto& of) { return of.second; });
  }
  return SlowestRate(from) * trip->second / 2;
}

CreditDesk::Due CreditDesk::Post(Rank from, Tag tag, Round round, int64_t bytes,
                                 Announce announce) {
  MutexLock lock(mutex_);
  order_.Post(from, tag, round, bytes);
  held_[{from, tag}] = std::move(announce);
  return Take();
}

void CreditDesk::Announced(Rank from, Tag tag) {
  MutexLock lock(mutex_);
  meter_.Announced(from, tag, now_());
}

std::optional<CreditDesk::Due> CreditDesk::Withdraw(Rank from, Tag tag) {
  MutexLock lock(mutex_);
  if (held_.erase({from, tag}) == 0) return std::nullopt;
  order_.Close(from, tag);
  return Take();
}

CreditDesk::Due CreditDesk::Lost(Rank from, Tag tag) {
  MutexLock lock(mutex_);
  order_.Close(from, tag);
  meter_.Forget(from, tag);
  return Take();
}

CreditDesk::Due CreditDesk::Landed(Rank from, const ChunkHeader& chunk) {
  MutexLock lock(mutex_);
  meter_.Landed(from, chunk.tag, chunk.size, chunk.last(), now_());
  if (chunk.last()) {
    order_.Close(from, chunk.tag);
    // The credit is still held if the peer sent the message without one.
    held_.erase({from, chunk.tag});
  } else {
    order_.Lacks(from, chunk.tag, chunk.total - chunk.offset - chunk.size);
  }
  return Take();
}

CreditDesk::Due CreditDesk::Lost(Rank from) {
  MutexLock lock(mutex_);
  order_.CloseAll(from);
  meter_.Forget(from);
  std::erase_if(held_, [from](const auto& held) { return held.first.first == from; });
  return Take();
}

void CreditDesk::Resumed(Rank from) {
  MutexLock lock(mutex_);
  meter_.Forget(from);
}

CreditDesk::Due CreditDesk::Take() {
  Due due;
  if (held_.empty()) return due;
  const auto allowance = [this](Rank to, Rank lacking) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return meter_.BytesWhileACreditTravels(to, lacking);
  };
  for (const CreditOrder::Message& message : order_.Take(allowance)) {
    due.push_back(std::move(held_.extract({message.from, message.tag}).mapped()));
  }
  return due;
}

}  // namespace grapevine
