#include "node/control/first_contacts.h"

#include <algorithm>
#include <utility>

namespace grapevine {

bool FirstContacts::Concerns(const Accusation& accusation, SteadyTime now) const {
  // Each edge is tried for as long as the rendezvous may take.
  return accusation.failure == Failure::kRendezvous && began_ &&
         now < *began_ + 2 * options_.rendezvous_timeout &&
         !newcomers_.contains(accusation.culprit) && !newcomers_.contains(accusation.reporter);
}

void FirstContacts::Add(Accusation accusation, SteadyTime now) {
  pending_.push_back({std::move(accusation), now});
}

const Accusation* FirstContacts::Unmet(const std::function<SteadyTime(Rank)>& last_heard) const {
  const std::chrono::nanoseconds hearing = Hearing(options_.peer_timeout);
  const auto heard = std::ranges::find_if(pending_, [&](const Pending& pending) {
    return last_heard(pending.accusation.culprit) >= pending.at + hearing;
  });
  return heard == pending_.end() ? nullptr : &heard->accusation;
}

std::vector<Accusation> FirstContacts::TakeUnheard(SteadyTime now) {
  std::vector<Accusation> unheard;
  std::erase_if(pending_, [&](Pending& pending) {
    const bool over = now >= pending.at + LongestHearing(options_.peer_timeout);
    if (over) unheard.push_back(std::move(pending.accusation));
    return over;
  });
  return unheard;
}

void FirstContacts::LeaveOut(Rank lost) {
  std::erase_if(pending_, [lost](const Pending& pending) {
    return pending.accusation.culprit == lost || pending.accusation.reporter == lost;
  });
}

void FirstContacts::Postpone(std::chrono::nanoseconds gap) {
  for (Pending& pending : pending_) pending.at += gap;
}

}  // namespace grapevine
