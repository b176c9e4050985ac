#include "node/life/role/lease_term.h"

#include <algorithm>

namespace grapevine {

void LeaseTerm::OnRenewed(Time asked) {
  until_ = asked + time_to_live_;
  pause_ = Beat(time_to_live_);
}

bool LeaseTerm::OnTrouble(bool ended, Time now) {
  constexpr std::chrono::milliseconds kRetry{200};
  if (ended) until_ = Time::min();
  pause_ = std::min<std::chrono::nanoseconds>(Beat(time_to_live_), kRetry);
  return IsHeld(now);
}

}  // namespace grapevine
