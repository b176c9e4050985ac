#include "node/control/suspicions.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "node/control/disputes.h"

namespace grapevine {

std::string Suspicions::Coordinator() const {
  return absl::StrCat("rank ", options_.disputes.coordinator);
}

void Suspicions::Add(Accusation accusation, SteadyTime now) {
  if (first_contacts_.Concerns(accusation, now)) {
    return first_contacts_.Add(std::move(accusation), now);
  }
  Accuse(std::move(accusation), now);
}

void Suspicions::Accuse(Accusation accusation, SteadyTime now) {
  // Whether the edge has ever worked makes no difference any more.
  if (accusation.failure == Failure::kRendezvous) accusation.failure = Failure::kPeerLost;
  accusations_.Add(std::move(accusation), now);
}

void Suspicions::LeaveOut(Rank lost) {
  accusations_.LeaveOut(lost);
  first_contacts_.LeaveOut(lost);
}

void Suspicions::TakeIn(Rank newcomer) {
  accusations_.TakeIn(newcomer);
  first_contacts_.TakeIn(newcomer);
}

void Suspicions::Postpone(std::chrono::nanoseconds gap) {
  accusations_.Postpone(gap);
  first_contacts_.Postpone(gap);
}

std::optional<Blame> Suspicions::Judge(SteadyTime now) {
  const auto last_heard = [this](Rank rank) { return vitals_.last_heard(rank); };
  if (const Accusation* const unmet = first_contacts_.Unmet(last_heard)) {
    return NeverConnected(*unmet);
  }
  for (Accusation& lost : first_contacts_.TakeUnheard(now)) Accuse(std::move(lost), now);
  // An accusation from the other side of an edge that has never worked says less than that.
  if (!first_contacts_.empty()) return std::nullopt;
  const std::optional<Accusation> heard = accusations_.Heard(now, last_heard);
  if (!heard) return std::nullopt;
  return Blame{
      heard->culprit, heard->failure,
      absl::StrCat(heard->message, "; ", Coordinator(), " heard from rank ", heard->culprit, " ",
                   vitals_.SilentFor(heard->culprit, now), " ago in ", vitals_.At(heard->culprit))};
}

Blame Suspicions::NeverConnected(const Accusation& unmet) const {
  return {-1, Failure::kRendezvous,
          absl::StrCat(members_.NameOf(unmet.reporter), " and ", members_.NameOf(unmet.culprit),
                       " have never been connected, though both are in touch with ", Coordinator(),
                       ": ", unmet.message,
                       "; `grapevine doctor` with the same hosts tries every way between them; "
                       "--advertise says where a node is dialled, --bind where it listens, and "
                       "firewalls must let both pass")};
}

// Neighbours that no longer hear each other notice so within --peer-timeout and a few heartbeats,
// and name each other, which says more.
std::optional<Blame> Suspicions::JudgeStuck(const std::function<bool(Rank)>& done) {
  if (!empty()) return std::nullopt;
  const std::optional<std::string> why = vitals_.Stuck(done);
  if (!why) return std::nullopt;
  if (options_.disputes.resilient) {
    if (const std::optional<Rank> apart = ApartAtTheEnd(done)) {
      return Blame{
          *apart, Failure::kPeerLost,
          absl::StrCat("rank ", *apart, " is alive, but cut off from a neighbour: ", *why)};
    }
  }
  return Blame{-1, Failure::kPeerLost,
               absl::StrCat("the run is stuck: every node is alive, but ", *why)};
}

std::optional<Rank> Suspicions::ApartAtTheEnd(const std::function<bool(Rank)>& done) {
  Dispute apart;
  for (const auto& [rank, member] : members_) {
    if (done(rank)) continue;
    for (const Rank awaited : vitals_.Awaited(rank)) {
      if (members_.contains(awaited) && done(awaited)) apart.insert({rank, awaited});
    }
  }
  return apart.empty() ? std::nullopt : std::optional(accusations_.FirstToGo(apart));
}

}  // namespace grapevine
