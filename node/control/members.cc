#include "node/control/members.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

// A member keeps the reports that it does not know to have arrived: it hears of these at the latest
// after so many, even where there is nothing else to say.
constexpr uint64_t kAcknowledgeEvery = 64;

}  // namespace

const MemberRecord* Members::Find(Rank rank) const {
  const auto found = members_.find(rank);
  return found == members_.end() ? nullptr : &found->second;
}

std::string Members::NameOf(Rank rank) const {
  return absl::StrCat("rank ", rank, " at ", At(rank).registration.address());
}

std::optional<Rank> Members::RankOf(SessionId session) const {
  const auto found = ranks_.find(session);
  return found == ranks_.end() ? std::nullopt : std::optional(found->second);
}

void Members::Add(SessionId session, const control::Registration& registration) {
  const Rank rank = registration.rank();
  MemberRecord member;
  member.session = session;
  member.registration = registration;
  members_[rank] = std::move(member);
  ranks_[session] = rank;
  absent_.erase(rank);
}

void Members::Return(SessionId session, const control::Registration& registration) {
  const Rank rank = registration.rank();
  MemberRecord& member = members_.at(rank);
  if (member.session) out_.replaced.push_back(*member.session);
  Detach(member);
  absent_.erase(rank);
  member.session = session;
  member.registration.set_call(registration.call());
  ranks_[session] = rank;
  for (const control::Directive& directive : member.told.kept()) out_.Send(session, directive);
  Beat(rank);
}

void Members::Break(Rank rank, std::string_view why) {
  MemberRecord& member = members_.at(rank);
  Detach(member);
  member.broken = why;
  absent_[rank] = member.registration.address();
}

void Members::Remove(Rank rank) {
  const auto found = members_.find(rank);
  if (found == members_.end()) return;
  Detach(found->second);
  members_.erase(found);
}

void Members::Detach(MemberRecord& member) {
  if (member.session) ranks_.erase(*member.session);
  member.session.reset();
}

void Members::Tell(Rank rank, control::Directive directive) {
  MemberRecord& member = members_.at(rank);
  directive.set_received(member.heard.received());
  const control::Directive& numbered = member.told.Add(std::move(directive));
  if (member.session) out_.Send(*member.session, numbered);
}

void Members::TellAll(const control::Directive& directive) {
  for (const auto& [rank, member] : members_) Tell(rank, directive);
}

void Members::Beat(Rank rank) {
  MemberRecord& member = members_.at(rank);
  if (!member.session) return;
  control::Directive directive;
  directive.mutable_beat();
  directive.set_received(member.heard.received());
  member.acknowledged = member.heard.received();
  out_.Send(*member.session, std::move(directive));
}

void Members::BeatAll() {
  for (const auto& [rank, member] : members_) Beat(rank);
}

Members::Arrival Members::Take(Rank rank, const control::Report& report) {
  MemberRecord& member = members_.at(rank);
  const ReceivedMessages::Arrival arrival = member.heard.Take(report.number());
  if (!member.told.Acknowledge(report.received()) || arrival == ReceivedMessages::Arrival::kGap) {
    return Arrival::kImpossible;
  }
  if (member.heard.received() >= member.acknowledged + kAcknowledgeEvery) Beat(rank);
  return arrival == ReceivedMessages::Arrival::kNew ? Arrival::kNew : Arrival::kAgain;
}

std::optional<Rank> Members::Backlogged() const {
  const auto found = std::ranges::find_if(
      members_, [](const auto& entry) { return entry.second.told.size() > kMaxUnacknowledged; });
  return found == members_.end() ? std::nullopt : std::optional(found->first);
}

}  // namespace grapevine
