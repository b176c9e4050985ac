#include "node/control/applicants.h"

#include <algorithm>
#include <utility>

namespace grapevine {

void Applicants::Add(Applicant applicant) {
  const Rank rank = applicant.registration.rank();
  waiting_.insert_or_assign(rank, std::move(applicant));
}

const Applicant* Applicants::Find(Rank rank) const {
  const auto found = waiting_.find(rank);
  return found == waiting_.end() ? nullptr : &found->second;
}

std::optional<Applicant> Applicants::Take(Rank rank) {
  auto found = waiting_.extract(rank);
  return found ? std::optional(std::move(found.mapped())) : std::nullopt;
}

std::optional<Rank> Applicants::Forget(SessionId session) {
  const auto found = std::ranges::find_if(
      waiting_, [session](const auto& entry) { return entry.second.session == session; });
  if (found == waiting_.end()) return std::nullopt;
  const Rank rank = found->first;
  waiting_.erase(found);
  return rank;
}

}  // namespace grapevine
