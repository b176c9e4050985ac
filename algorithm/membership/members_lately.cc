#include "algorithm/membership/members_lately.h"

#include <algorithm>

namespace grapevine {

void MembersLately::OnView(Member members, std::chrono::nanoseconds now) {
  while (!past_.empty() && past_.back().members <= members_) past_.pop_back();
  past_.push_back({members_, now});
  members_ = members;
}

void MembersLately::Postpone(std::chrono::nanoseconds gap) {
  for (Past& past : past_) past.until += gap;
}

Member MembersLately::Most(std::chrono::nanoseconds now, std::chrono::nanoseconds memory) const {
  const auto held =
      std::ranges::find_if(past_, [&](const Past& past) { return now - past.until <= memory; });
  return held == past_.end() ? members_ : std::max(held->members, members_);
}

}  // namespace grapevine
