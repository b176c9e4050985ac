// Max-min fair rates of flows that share links.
//
// No flow's rate can rise without lowering one that is no larger: every flow has
// a bottleneck, which is its own limit or a saturated link on which no flow is
// faster (Bertsekas and Gallager, Data Networks, section 6.5.2). The rates are unique.
// This is the plain definition; shared_links.h keeps them while flows come and go.
//
// Thread-safety: pure function.
#ifndef GRAPEVINE_SIM_NETWORK_MAX_MIN_H_
#define GRAPEVINE_SIM_NETWORK_MAX_MIN_H_

#include <limits>
#include <span>
#include <vector>

#include "sim/platform/link.h"

namespace grapevine {

struct MaxMinFlow {
  std::span<const LinkId> route;  // no link twice
  double max_rate = std::numeric_limits<double>::infinity();
};

// One rate for each flow, by progressive filling: all rates rise together, and
// those on a link that is full, or at their own limit, stop. `capacities` has one
// positive number for each link; rates are in the same unit. A flow without links
// gets its max_rate. O(rounds * (links + flows)).
std::vector<double> MaxMinRates(std::span<const double> capacities,
                                std::span<const MaxMinFlow> flows);

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_NETWORK_MAX_MIN_H_
