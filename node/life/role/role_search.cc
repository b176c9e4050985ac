#include "node/life/role/role_search.h"

namespace grapevine {

bool RoleSearch::IsSuccessor(const Holder& holder) const {
  return known_ == 0 ? holder.rank != options_.lost : holder.tenure != known_;
}

RoleSearch::Step RoleSearch::Next(const Seen& seen, Time now) {
  if (seen.over) return Step::kEnd;
  if (seen.holder && seen.holder->tenure == options_.own) return Step::kRelease;
  if (seen.holder) {
    const bool is_successor = IsSuccessor(*seen.holder);
    if (is_successor || options_.gone) known_ = seen.holder->tenure;
    if (is_successor) return Step::kFollow;
    if (options_.gone && seen.holder->on_this_machine) return Step::kRelease;
  }
  const bool may_take = !seen.taken && now >= options_.begin + options_.precedence;
  return may_take && now < options_.deadline ? Step::kTake : AfterTrouble(now);
}

RoleSearch::Step RoleSearch::AfterTrouble(Time now) const {
  return now + kRetry >= options_.deadline ? Step::kGiveUp : Step::kWait;
}

}  // namespace grapevine
