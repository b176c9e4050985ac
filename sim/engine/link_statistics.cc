#include "sim/engine/link_statistics.h"

#include <algorithm>
#include <cmath>

namespace grapevine {

std::vector<LinkStatistics> BusiestLinks(const Platform& platform, std::span<const double> bytes,
                                         Nanoseconds time, size_t most) {
  const std::span<const Link> links = platform.links();
  const auto utilization = [&](LinkId link) {
    return time > 0 ? bytes[link] / (links[link].capacity * static_cast<double>(time)) : 0;
  };
  std::vector<LinkId> busy;
  for (LinkId link = 0; link < bytes.size(); ++link) {
    if (bytes[link] > 0) busy.push_back(link);
  }
  const size_t listed = std::min(most, busy.size());
  // Of equally busy links the first in the platform's order.
  const auto busier = [&](LinkId a, LinkId b) {
    const double ua = utilization(a), ub = utilization(b);
    return ua != ub ? ua > ub : a < b;
  };
  std::ranges::partial_sort(busy, busy.begin() + static_cast<ptrdiff_t>(listed), busier);
  std::vector<LinkStatistics> statistics;
  for (size_t i = 0; i < listed; ++i) {
    statistics.push_back({.name = platform.LinkName(busy[i]),
                          .bytes = std::llround(bytes[busy[i]]),
                          .utilization = utilization(busy[i])});
  }
  return statistics;
}

}  // namespace grapevine
