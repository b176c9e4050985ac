#include "node/control/run_quorum.h"

#include "absl/strings/str_cat.h"
#include "algorithm/membership/quorum.h"
#include "base/status.h"
#include "node/control/wording.h"

namespace grapevine {

void RunQuorum::Postpone(std::chrono::nanoseconds gap) {
  lately_.Postpone(gap);
  if (short_since_) *short_since_ += gap;
}

Rank RunQuorum::Least(SteadyTime now) const {
  return all_done_ ? options_.min_nodes.value_or(1) : LeastMembers(options_.min_nodes, Lately(now));
}

std::string RunQuorum::TooFew(Rank members, SteadyTime now) const {
  return TooFewMembers(members, options_.nodes, options_.min_nodes, Lately(now),
                       FlagWithTime("--peer-timeout", options_.peer_timeout));
}

std::optional<Blame> RunQuorum::JudgeWait(Rank members, SteadyTime now,
                                          std::vector<std::string>* notices) {
  const std::string patience = FlagWithTime("--rendezvous-timeout", options_.rendezvous_timeout);
  if (!short_since_) {
    short_since_ = now;
    notices->push_back(
        absl::StrCat(TooFew(members, now), ": they wait for others to come in, up to ", patience));
  }
  if (now - *short_since_ < options_.rendezvous_timeout) return std::nullopt;
  return Blame{.culprit = -1,
               .failure = Failure::kPeerLost,
               .message = absl::StrCat(
                   TooFew(members, now), ", and not enough others have come in within ", patience,
                   "; start them with grapevine node --join, or let fewer go on")};
}

}  // namespace grapevine
