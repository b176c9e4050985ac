// A view: who the members of a run are, and from which round on.
//
// Thread-safety: values.
#ifndef GRAPEVINE_ALGORITHM_VIEW_H_
#define GRAPEVINE_ALGORITHM_VIEW_H_

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <vector>

#include "base/ids.h"

namespace grapevine {

// A node's name for as long as the run lasts: its rank in the first view. A member that was left
// out may come in again, as another process that knows nothing of the last one; all remaining
// members have then heard of a view without it in between.
using Member = int32_t;

struct View {
  uint32_t epoch = 0;           // the number of the view, from 0
  Round from = 0;               // the first round of the view
  std::vector<Member> members;  // ascending; a rank is a position here
  uint32_t ballot = 0;          // ballot under which this view was agreed upon (event.h, Prepare)
  // The members that come in with this view, ascending (membership/admission.h).
  std::vector<Member> newcomers = {};
  // The nominal round of the checkpoint that this view is for, where nodes do not go through rounds
  // together; 0: no checkpoint. A node's part of the checkpoint is what it has as the view begins,
  // as nothing is on its way between two views.
  Round checkpoint = 0;

  Rank size() const { return static_cast<Rank>(members.size()); }
  // Returns the position of a member; none for a member that is not in this view.
  std::optional<Rank> RankOf(Member member) const {
    const auto found = std::ranges::lower_bound(members, member);
    if (found == members.end() || *found != member) return std::nullopt;
    return static_cast<Rank>(found - members.begin());
  }

  bool IsNewcomer(Member member) const { return std::ranges::binary_search(newcomers, member); }
  // Returns the members that were in the run before this view, and so have replicas.
  std::vector<Member> Veterans() const {
    std::vector<Member> veterans;
    std::ranges::set_difference(members, newcomers, std::back_inserter(veterans));
    return veterans;
  }

  bool operator==(const View&) const = default;
};

// Returns the first view of a run, which has all nodes as members.
inline View FirstView(Rank nodes) {
  View view{.members = std::vector<Member>(nodes)};
  std::iota(view.members.begin(), view.members.end(), 0);
  return view;
}

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_VIEW_H_
