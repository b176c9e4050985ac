// How many members a run has lately had at once, from the views that were agreed upon.
//
// Nodes that are lost at once are missed one after the other, and views may be agreed upon in
// between: what is left of a run is therefore compared with what it had a while ago.
//
// Thread-compatible. Time is passed in, since any moment that stays.
#ifndef GRAPEVINE_ALGORITHM_MEMBERSHIP_MEMBERS_LATELY_H_
#define GRAPEVINE_ALGORITHM_MEMBERSHIP_MEMBERS_LATELY_H_

#include <chrono>
#include <vector>

#include "algorithm/view.h"

namespace grapevine {

class MembersLately {
 public:
  // No view is known.
  MembersLately() = default;
  // The members of the first view that is known.
  explicit MembersLately(Member members) : members_(members) {}

  // A view with so many is agreed upon, and holds instead of the one before. Time never falls.
  void OnView(Member members, std::chrono::nanoseconds now);
  // Time in which nobody could be missed, since all stood still, does not count.
  void Postpone(std::chrono::nanoseconds gap);
  // The most of all views that have held within `memory` before now.
  Member Most(std::chrono::nanoseconds now, std::chrono::nanoseconds memory) const;

 private:
  struct Past {
    Member members;
    std::chrono::nanoseconds until;
  };

  Member members_ = 0;
  // Later ones have fewer members: the others are of no consequence any more.
  std::vector<Past> past_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_MEMBERSHIP_MEMBERS_LATELY_H_
