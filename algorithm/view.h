// Who is in the run, from which round on.
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

// A node's name for as long as the run lasts: its rank in the first view. One that was left out may
// come in again, as another process that knows nothing of the last one; everybody left has then
// heard of a view without it in between.
using Member = int32_t;

struct View {
  uint32_t epoch = 0;           // views are counted from 0
  Round from = 0;               // its first round
  std::vector<Member> members;  // ascending; a rank is a position here
  uint32_t ballot = 0;          // under which it was agreed upon (event.h, Prepare)
  // Those of the members that come in with this view, ascending (membership/admission.h).
  std::vector<Member> newcomers = {};
  // Where nodes go through no rounds together: what a node has as this view begins is its part of
  // the checkpoint of this nominal round, as nothing is on its way between two views. 0: of none.
  Round checkpoint = 0;

  Rank size() const { return static_cast<Rank>(members.size()); }
  // The position of a member; none for one that is not in this view.
  std::optional<Rank> RankOf(Member member) const {
    const auto found = std::ranges::lower_bound(members, member);
    if (found == members.end() || *found != member) return std::nullopt;
    return static_cast<Rank>(found - members.begin());
  }

  bool IsNewcomer(Member member) const { return std::ranges::binary_search(newcomers, member); }
  // The members that have been in the run before: they have replicas.
  std::vector<Member> Veterans() const {
    std::vector<Member> veterans;
    std::ranges::set_difference(members, newcomers, std::back_inserter(veterans));
    return veterans;
  }

  bool operator==(const View&) const = default;
};

// Of all nodes of a run that begins.
inline View FirstView(Rank nodes) {
  View view{.members = std::vector<Member>(nodes)};
  std::iota(view.members.begin(), view.members.end(), 0);
  return view;
}

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_VIEW_H_
