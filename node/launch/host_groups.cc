#include "node/launch/host_groups.h"

#include <map>

namespace grapevine {

HostGroups GroupByHost(const HostSlots& slots) {
  HostGroups result;
  std::map<std::string, size_t> known;
  for (size_t rank = 0; rank < slots.size(); ++rank) {
    const std::string& name = slots[rank].host;
    const auto [found, is_new] = known.emplace(name, result.groups.size());
    if (is_new) result.groups.push_back({.name = name, .ranks = {}});
    result.groups[found->second].ranks.push_back(static_cast<Rank>(rank));
    result.of.push_back(found->second);
  }
  return result;
}

}  // namespace grapevine
