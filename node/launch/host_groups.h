// GroupByHost finds the ranks of each host in a list of slots.
//
// A pure function, safe from any thread.
#ifndef GRAPEVINE_NODE_LAUNCH_HOST_GROUPS_H_
#define GRAPEVINE_NODE_LAUNCH_HOST_GROUPS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/ids.h"
#include "node/identity/identity.h"

namespace grapevine {

struct HostGroup {
  std::string name;
  std::vector<Rank> ranks;  // ascending
};

struct HostGroups {
  std::vector<HostGroup> groups;  // in the order of their first ranks
  std::vector<size_t> of;         // the group of each rank
};

HostGroups GroupByHost(const HostSlots& slots);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_HOST_GROUPS_H_
