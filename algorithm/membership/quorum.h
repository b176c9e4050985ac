// How many members must be left for a run to go on without lost ones: as many as the user has said
// (--min-nodes), else half of the members that the run has lately had.
//
// Lost members may be alive on the other side of a network partition, and take the members on this
// side for lost. So the smaller of two sides does not go on by itself. Half is enough: rank 0's
// role decides which of two halves goes on, and a run of two nodes outlives one.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_ALGORITHM_MEMBERSHIP_QUORUM_H_
#define GRAPEVINE_ALGORITHM_MEMBERSHIP_QUORUM_H_

#include <optional>
#include <string>
#include <string_view>

#include "algorithm/view.h"

namespace grapevine {

// Returns the least number of members with which a run goes on. `lately` is MembersLately::Most
// over the last --peer-timeout, within which all nodes that are lost at once are missed.
inline Member LeastMembers(std::optional<Member> min_nodes, Member lately) {
  return min_nodes.value_or((lately + 1) / 2);
}

// Returns the message that `left` members of a run of `nodes` are too few, and what would let them
// go on. `memory` is the flag that says how far back `lately` looks, "--peer-timeout=30s".
std::string TooFewMembers(Member left, Rank nodes, std::optional<Member> min_nodes, Member lately,
                          std::string_view memory);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_MEMBERSHIP_QUORUM_H_
