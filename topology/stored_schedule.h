// A graph that changes with the round, given round by round, and begins again after the last one.
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

// Each round of a schedule takes memory for every node: a schedule in which rounds times nodes are
// more is refused.
constexpr int64_t kMostScheduled = 100'000'000;

// At least one round, each as the edges of MakeStoredGraph or, if `directed`, of MakeDirectedGraph;
// a round may have none. Of one round this is that graph.
std::shared_ptr<const Topology> MakeStoredSchedule(std::string name, Rank n,
                                                   std::vector<std::vector<Edge>> rounds,
                                                   bool directed);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_STORED_SCHEDULE_H_
