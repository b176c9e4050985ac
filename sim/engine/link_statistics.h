// How busy the links of a physical network were.
#ifndef GRAPEVINE_SIM_ENGINE_LINK_STATISTICS_H_
#define GRAPEVINE_SIM_ENGINE_LINK_STATISTICS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "run/records/statistics.h"
#include "sim/nanoseconds.h"
#include "sim/platform/platform.h"

namespace grapevine {

// The `most` links that were busiest, busiest first; those that carried nothing are
// left out. bytes[l] crossed link l within `time`; none: nothing is known.
std::vector<LinkStatistics> BusiestLinks(const Platform& platform, std::span<const double> bytes,
                                         Nanoseconds time, size_t most);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_LINK_STATISTICS_H_
