#include "node/control/accusations.h"

#include <algorithm>
#include <utility>

namespace grapevine {
namespace {

constexpr std::chrono::milliseconds kMaxHearing{1000};

}  // namespace

Rank Accusations::Blamed(Rank reporter, Rank culprit, Failure failure) {
  if (!options_.resilient || !IsMissedByAll(culprit) || failure != Failure::kPeerLost)
    return culprit;
  std::set<Rank>& without = without_[culprit];
  without.insert(reporter);
  const auto gone_otherwise =
      std::ranges::count_if(left_out_, [&](Rank rank) { return !without.contains(rank); });
  if (2 * std::ssize(without) <= options_.members - gone_otherwise) return reporter;
  // Of the others: the same break, from the culprit's side or before this was known.
  std::erase_if(pending_, [&](const auto& entry) { return without.contains(entry.first); });
  return culprit;
}

void Accusations::Add(Accusation accusation, SteadyTime now) {
  if (!options_.resilient && !empty()) return;
  const Rank culprit = accusation.culprit;
  pending_.try_emplace(culprit, Pending{std::move(accusation), now});
}

std::optional<Accusation> Accusations::Heard(
    SteadyTime now, const std::function<SteadyTime(Rank)>& last_heard) const {
  const auto hearing = std::min<std::chrono::nanoseconds>(kMaxHearing, options_.peer_timeout / 4);
  for (const auto& [culprit, pending] : pending_) {
    if (last_heard(culprit) >= pending.at + hearing ||
        now >= pending.at + options_.peer_timeout / 2) {
      return pending.accusation;
    }
  }
  return std::nullopt;
}

void Accusations::LeaveOut(Rank lost) {
  left_out_.insert(lost);
  std::erase_if(pending_, [this, lost](const auto& entry) {
    const auto& [culprit, pending] = entry;
    return culprit == lost || (pending.accusation.reporter == lost && !IsMissedByAll(culprit));
  });
}

void Accusations::TakeIn(Rank newcomer) {
  left_out_.erase(newcomer);
  for (auto& [missed, without] : without_) without.erase(newcomer);
}

void Accusations::Postpone(std::chrono::nanoseconds gap) {
  for (auto& [culprit, pending] : pending_) pending.at += gap;
}

}  // namespace grapevine
