#include "node/life/role_search.h"

namespace grapevine {

RoleSearch::Step RoleSearch::Next(const Seen& seen, Time now) const {
  if (seen.over) return Step::kEnd;
  if (seen.successor) return Step::kFollow;
  if (seen.taken) return seen.abandoned ? Step::kRelease : AfterTrouble(now);
  return now >= options_.begin + options_.precedence ? Step::kTake : AfterTrouble(now);
}

RoleSearch::Step RoleSearch::AfterTrouble(Time now) const {
  return now + kRetry >= options_.deadline ? Step::kGiveUp : Step::kWait;
}

}  // namespace grapevine
