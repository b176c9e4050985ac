// A graph that changes with the round. It is given round by round, and begins again after the last
// round.
//
// Thread-safety: a pure function; the schedule is immutable.
#ifndef GRAPEVINE_TOPOLOGY_STORED_SCHEDULE_H_
#define GRAPEVINE_TOPOLOGY_STORED_SCHEDULE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "topology/stored_graph.h"
#include "topology/topology.h"

namespace grapevine {

// The most that rounds times nodes of a schedule may be; a larger schedule is refused, since each
// round takes memory for every node.
constexpr int64_t kMostScheduled = 100'000'000;

// Makes a schedule of at least one round. Each round is given by its edges, as for MakeStoredGraph
// or, if `directed`, for MakeDirectedGraph; a round may have no edges. A schedule of one round is
// the graph of that round.
std::shared_ptr<const Topology> MakeStoredSchedule(std::string name, Rank n,
                                                   std::vector<std::vector<Edge>> rounds,
                                                   bool directed);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_STORED_SCHEDULE_H_
