// Finds nodes that exchange replicas but have unequal degrees.
//
// Thread-safety: pure function.
#ifndef GRAPEVINE_TOPOLOGY_WEIGHTS_EQUAL_DEGREES_H_
#define GRAPEVINE_TOPOLOGY_WEIGHTS_EQUAL_DEGREES_H_

#include <optional>

#include "topology/stored_graph.h"
#include "topology/topology.h"

namespace grapevine {

// An edge, in some round, between two nodes whose in- and out-degrees are not all equal; its `to`
// is the node that receives. If a graph has no such edge, weights of 1/(degree + 1) are doubly
// stochastic. Of a graph that never repeats, only some rounds are looked at.
struct UnequalDegrees {
  Edge edge;
  Round round;
};
std::optional<UnequalDegrees> FindUnequalDegrees(const Topology& topology);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_WEIGHTS_EQUAL_DEGREES_H_
