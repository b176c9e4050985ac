#include "node/control/accusations.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "node/control/wording.h"

namespace grapevine {
namespace {

std::set<Rank> RanksIn(const Dispute& dispute) {
  std::set<Rank> ranks;
  for (const Loss& loss : dispute) ranks.insert({loss.reporter, loss.lost});
  return ranks;
}

// Returns "; ranks 1, 2 have lost rank 3, which has lost rank 4", say, if the rank is at odds with
// several others; otherwise an empty text.
std::string AtOdds(Rank rank, const Dispute& dispute) {
  std::vector<Rank> losers, lost;
  std::set<Rank> opponents;
  for (const Loss& loss : dispute) {
    if (loss.lost == rank) losers.push_back(loss.reporter);
    if (loss.reporter == rank) lost.push_back(loss.lost);
    if (loss.lost == rank || loss.reporter == rank) opponents.insert({loss.reporter, loss.lost});
  }
  constexpr size_t kPair = 2;
  if (opponents.size() <= kPair) return "";
  const std::string name = absl::StrCat("rank ", rank);
  std::string text = "; ";
  if (!losers.empty()) {
    absl::StrAppend(&text, Named(losers), losers.size() == 1 ? " has" : " have", " lost ", name);
  }
  if (!lost.empty()) {
    absl::StrAppend(&text, losers.empty() ? name : ", which", " has lost ", Named(lost));
  }
  return text;
}

}  // namespace

bool Accusations::IsLostByMost(Rank rank) const {
  const auto found = without_.find(rank);
  if (found == without_.end()) return false;
  const std::set<Rank>& without = found->second;
  const auto gone_otherwise =
      std::ranges::count_if(left_out_, [&](Rank lost) { return !without.contains(lost); });
  return 2 * std::ssize(without) > options_.members - gone_otherwise;
}

std::optional<Rank> Accusations::LostByMost(const Dispute& dispute) const {
  const auto found =
      std::ranges::find_if(dispute, [this](const Loss& loss) { return IsLostByMost(loss.lost); });
  return found == dispute.end() ? std::nullopt : std::optional(found->lost);
}

std::set<Rank> Accusations::Kept(const Dispute& dispute) const {
  std::set<Rank> kept = RanksIn(dispute);
  std::erase_if(kept, [this](Rank rank) { return !IsMissedByAll(rank) || IsLostByMost(rank); });
  return kept;
}

void Accusations::NoteWithout(const Loss& loss) {
  if (!IsMissedByAll(loss.lost)) return;
  std::set<Rank>& without = without_[loss.lost];
  without.insert(loss.reporter);
  if (!IsLostByMost(loss.lost)) return;
  // Proofs against those that have lost it are about the same break, from the culprit's side or
  // before this was known.
  std::erase_if(proven_, [&](const auto& entry) { return without.contains(entry.first); });
}

void Accusations::Add(Accusation accusation, SteadyTime now) {
  const Loss loss{accusation.reporter, accusation.culprit};
  const bool shared = options_.resilient && accusation.failure == Failure::kPeerLost;
  if (shared) NoteWithout(loss);
  if (shared && !accusation.proven) {
    losses_.try_emplace(loss, Pending{std::move(accusation), now});
    return;
  }
  if (!options_.resilient && !empty()) return;
  const bool kept = IsMissedByAll(loss.lost) && !IsLostByMost(loss.lost);
  if (shared && kept) accusation.culprit = accusation.reporter;
  const Rank culprit = accusation.culprit;
  proven_.try_emplace(culprit, Pending{std::move(accusation), now});
}

bool Accusations::empty() const {
  const auto counts = [this](const auto& entry) { return Counts(entry.first); };
  return proven_.empty() && std::ranges::none_of(losses_, counts);
}

bool Accusations::Counts(const Loss& loss) const {
  return !left_out_.contains(loss.reporter) || IsLostByMost(loss.lost);
}

std::optional<Accusation> Accusations::HeardOfProven(
    SteadyTime now, const std::function<SteadyTime(Rank)>& last_heard) const {
  for (const auto& [culprit, pending] : proven_) {
    if (last_heard(culprit) >= pending.at + Hearing(options_.peer_timeout) ||
        now >= pending.at + LongestHearing(options_.peer_timeout)) {
      return pending.accusation;
    }
  }
  return std::nullopt;
}

std::optional<Accusation> Accusations::Heard(
    SteadyTime now, const std::function<SteadyTime(Rank)>& last_heard) const {
  if (std::optional<Accusation> proven = HeardOfProven(now, last_heard)) return proven;
  Dispute losses;
  for (const auto& [loss, pending] : losses_) {
    if (Counts(loss)) losses.insert(loss);
  }
  for (const Dispute& dispute : SeparateDisputes(losses, Kept(losses))) {
    if (const std::optional<Rank> rank = Judged(dispute, now, last_heard)) {
      return Against(*rank, dispute);
    }
  }
  return std::nullopt;
}

std::optional<Rank> Accusations::Judged(const Dispute& dispute, SteadyTime now,
                                        const std::function<SteadyTime(Rank)>& last_heard) const {
  SteadyTime first = SteadyTime::max();
  for (const Loss& loss : dispute) first = std::min(first, losses_.at(loss).at);
  const SteadyTime opened = first + Hearing(options_.peer_timeout);
  if (now < opened) return std::nullopt;
  if (const std::optional<Rank> rank = LostByMost(dispute)) {
    return last_heard(*rank) >= opened || now >= first + LongestHearing(options_.peer_timeout)
               ? rank
               : std::nullopt;
  }
  const std::set<Rank> kept = Kept(dispute);
  bool all_heard = true;
  for (const Rank rank : RanksIn(dispute)) {
    if (kept.contains(rank) || last_heard(rank) >= opened) continue;
    const std::optional<SteadyTime> accused = AccusedSince(rank, dispute, kept);
    if (accused && now >= *accused + LongestHearing(options_.peer_timeout)) return rank;
    all_heard = false;  // a node that has merely lost others speaks, or is silent for too long
  }
  return all_heard ? std::optional(FewestToGo(dispute, kept).front()) : std::nullopt;
}

std::optional<SteadyTime> Accusations::AccusedSince(Rank rank, const Dispute& dispute,
                                                    const std::set<Rank>& kept) const {
  std::optional<SteadyTime> since;
  for (const Loss& loss : dispute) {
    const bool accused = loss.lost == rank || (loss.reporter == rank && kept.contains(loss.lost));
    if (accused) since = std::min(since.value_or(SteadyTime::max()), losses_.at(loss).at);
  }
  return since;
}

Accusation Accusations::Against(Rank rank, const Dispute& dispute) const {
  const auto last = [&](Rank Loss::*end) {
    const Pending* found = nullptr;
    for (const Loss& loss : dispute) {
      const Pending& pending = losses_.at(loss);
      if (loss.*end == rank && (found == nullptr || pending.at >= found->at)) found = &pending;
    }
    return found;
  };
  const Pending* said = last(&Loss::lost);
  if (said == nullptr) said = last(&Loss::reporter);  // no node has lost it
  Accusation against = said->accusation;
  against.culprit = rank;
  against.message += AtOdds(rank, dispute);
  return against;
}

Rank Accusations::FirstToGo(const Dispute& dispute) {
  for (const Loss& loss : dispute) NoteWithout(loss);
  return LostByMost(dispute).value_or(FewestToGo(dispute, Kept(dispute)).front());
}

void Accusations::LeaveOut(Rank lost) {
  left_out_.insert(lost);
  const auto counts_no_more = [this, lost](Rank reporter, Rank culprit) {
    return culprit == lost || (reporter == lost && !IsMissedByAll(culprit));
  };
  std::erase_if(proven_, [&](const auto& entry) {
    return counts_no_more(entry.second.accusation.reporter, entry.first);
  });
  std::erase_if(losses_, [&](const auto& entry) {
    return counts_no_more(entry.first.reporter, entry.first.lost);
  });
}

void Accusations::TakeIn(Rank newcomer) {
  left_out_.erase(newcomer);
  for (auto& [missed, without] : without_) without.erase(newcomer);
  std::erase_if(losses_,
                [newcomer](const auto& entry) { return entry.first.reporter == newcomer; });
}

void Accusations::Postpone(std::chrono::nanoseconds gap) {
  for (auto& [culprit, pending] : proven_) pending.at += gap;
  for (auto& [loss, pending] : losses_) pending.at += gap;
}

}  // namespace grapevine
