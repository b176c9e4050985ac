// What control messages tell in few bytes, read and written by tests.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TESTS_NODE_CONTROL_PACKED_LISTS_H_
#define GRAPEVINE_TESTS_NODE_CONTROL_PACKED_LISTS_H_

#include <string>
#include <vector>

#include "node/control/address_list.h"
#include "node/control/member_runs.h"

namespace grapevine {

// All addresses of a roster, by rank.
inline std::vector<std::string> AddressesIn(const control::Roster& roster) {
  return UnpackAddresses(roster.addresses(), roster.addresses().shape_size() / 3).value();
}

inline void SetAddresses(const std::vector<std::string>& addresses, control::Roster* roster) {
  *roster->mutable_addresses() = PackAddresses(addresses);
}

// All members of a view; none where they cannot be.
inline std::vector<Member> MembersIn(const control::View& view) {
  return MembersOf(view, /*world_size=*/1000).value_or(std::vector<Member>());
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_NODE_CONTROL_PACKED_LISTS_H_
