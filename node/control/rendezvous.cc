#include "node/control/rendezvous.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "node/control/wording.h"

namespace grapevine {

Rendezvous::Rendezvous(Rank nodes, std::chrono::nanoseconds patience, SteadyTime now)
    : nodes_(nodes), until_(now + patience), next_notice_(now + kNoticeInterval) {}

void Rendezvous::NoteAbsence(Rank rank, std::string why) {
  if (rank >= 0 && rank < nodes_) absences_[rank] = std::move(why);
}

std::string Rendezvous::Missing(const Members& members) const {
  std::vector<Rank> missing;
  std::string reasons;
  for (Rank rank = 0; rank < nodes_; ++rank) {
    if (members.contains(rank)) continue;
    missing.push_back(rank);
    const auto absence = absences_.find(rank);
    if (absence != absences_.end()) {
      absl::StrAppend(&reasons, "; rank ", rank, " ", absence->second);
    }
  }
  return absl::StrCat(Named(missing), missing.size() == 1 ? " is" : " are", " missing", reasons);
}

std::optional<std::string> Rendezvous::Notice(const Members& members, SteadyTime now) {
  if (now < next_notice_) return std::nullopt;
  next_notice_ = now + kNoticeInterval;
  return absl::StrCat("waiting for ", nodes_ - members.size(), " of ", nodes_,
                      " nodes: ", Missing(members));
}

}  // namespace grapevine
