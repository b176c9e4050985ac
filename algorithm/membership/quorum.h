// How many members must be left for a run to go on without those that are lost: as many as the user
// has said (--min-nodes), else half of those that the run has lately had.
//
// Those that are lost may live, on the other side of a partition, and hold the same of this one. So
// the smaller side of two does not go on by itself. Half is enough: which of two halves goes on is
// decided by rank 0's role, and a run of two nodes outlives one.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_ALGORITHM_MEMBERSHIP_QUORUM_H_
#define GRAPEVINE_ALGORITHM_MEMBERSHIP_QUORUM_H_

#include <optional>
#include <string>
#include <string_view>

#include "algorithm/view.h"

namespace grapevine {

// `lately`: MembersLately of the last --peer-timeout, within which all are missed who are lost at
// once.
inline Member LeastMembers(std::optional<Member> min_nodes, Member lately) {
  return min_nodes.value_or((lately + 1) / 2);
}

// That so many of a run of `nodes` are too few, and what would let them go on. `memory`: the flag
// that says how long `lately` is, "--peer-timeout=30s".
std::string TooFewMembers(Member left, Rank nodes, std::optional<Member> min_nodes, Member lately,
                          std::string_view memory);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_MEMBERSHIP_QUORUM_H_
