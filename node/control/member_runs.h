// The members of a view in few bytes: every node hears of every view, and most members' ranks
// follow each other.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_NODE_CONTROL_MEMBER_RUNS_H_
#define GRAPEVINE_NODE_CONTROL_MEMBER_RUNS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "algorithm/view.h"
#include "node/control/control.pb.h"

namespace grapevine {

// Sets the members, which ascend.
void SetMembers(std::span<const Member> members, control::View* view);
// Returns the members, ascending and below `world_size`; none if they are not.
std::optional<std::vector<Member>> MembersOf(const control::View& view, Rank world_size);
// Returns how many members a view says that it has.
int64_t CountMembers(const control::View& view);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_MEMBER_RUNS_H_
