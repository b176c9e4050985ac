// How many members a run has lately had at once, according to the views that were agreed upon.
//
// Nodes that are lost at once are missed one after the other, and views may be agreed upon in
// between. The members that are left are therefore compared with those of a while ago.
//
// Thread-compatible. Time is passed in, as the time since any fixed moment.
#ifndef GRAPEVINE_ALGORITHM_MEMBERSHIP_MEMBERS_LATELY_H_
#define GRAPEVINE_ALGORITHM_MEMBERSHIP_MEMBERS_LATELY_H_

#include <chrono>
#include <vector>

#include "algorithm/view.h"

namespace grapevine {

class MembersLately {
 public:
  // Begins without a known view.
  MembersLately() = default;
  // Begins with the first known view, which has `members` members.
  explicit MembersLately(Member members) : members_(members) {}

  // Records that a view of `members` members is agreed upon, and holds instead of the one before.
  // Time must never decrease.
  void OnView(Member members, std::chrono::nanoseconds now);
  // Leaves `gap` out of account: time in which no member could be missed, since all nodes stood
  // still.
  void Postpone(std::chrono::nanoseconds gap);
  // Returns the largest number of members of all views that have held within `memory` before `now`.
  Member Most(std::chrono::nanoseconds now, std::chrono::nanoseconds memory) const;

 private:
  struct Past {
    Member members;
    std::chrono::nanoseconds until;
  };

  Member members_ = 0;
  // Views that no longer hold, in order of time. Later ones have fewer members: a view with no more
  // members than a later one no longer matters.
  std::vector<Past> past_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_MEMBERSHIP_MEMBERS_LATELY_H_
