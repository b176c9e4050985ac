// Schedules and graphs that may be good on a network, before any is simulated.
//
// Thread-safety: a pure function.
#ifndef GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_CANDIDATES_H_
#define GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_CANDIDATES_H_

#include <memory>
#include <span>
#include <vector>

#include "experiment/graph_search/groups.h"
#include "experiment/graph_search/link_loads.h"
#include "experiment/graph_search/local_search.h"
#include "topology/weights/mixing.h"

namespace grapevine {

// Returns candidates within the limits, the most promising first, by the estimate. It is at most
// `seconds` for each. The nodes of `families` must be well placed.
std::vector<FittedSchedule> Candidates(const Group& nearness, const LinkLoads& loads,
                                       std::span<const std::shared_ptr<const Mixing>> families,
                                       const SearchLimits& limits, double seconds);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_CANDIDATES_H_
