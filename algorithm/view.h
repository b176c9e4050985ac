// Who is in the run, from which round on.
//
// Thread-safety: values.
#ifndef GRAPEVINE_ALGORITHM_VIEW_H_
#define GRAPEVINE_ALGORITHM_VIEW_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "base/ids.h"

namespace grapevine {

// A node's name for as long as the run lasts, never given to another: its rank in the first view.
using Member = int32_t;

struct View {
  uint32_t epoch = 0;           // views are counted from 0
  Round from = 0;               // its first round
  std::vector<Member> members;  // ascending; a rank is a position here
  uint32_t ballot = 0;          // under which it was agreed upon (event.h, Prepare)

  Rank size() const { return static_cast<Rank>(members.size()); }
  // The position of a member; none for one that is not in this view.
  std::optional<Rank> RankOf(Member member) const {
    const auto found = std::ranges::lower_bound(members, member);
    if (found == members.end() || *found != member) return std::nullopt;
    return static_cast<Rank>(found - members.begin());
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
