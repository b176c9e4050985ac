// Whether the nodes that exchange replicas have as many neighbours as each other.
//
// Thread-safety: pure function.
#ifndef GRAPEVINE_TOPOLOGY_WEIGHTS_EQUAL_DEGREES_H_
#define GRAPEVINE_TOPOLOGY_WEIGHTS_EQUAL_DEGREES_H_

#include <optional>

#include "topology/stored_graph.h"
#include "topology/topology.h"

namespace grapevine {

// An edge between nodes of which not all in- and out-degrees are equal, in some round; the node
// that receives is its `to`. Without one, weights of 1/(degree + 1) are doubly stochastic. Of a
// graph that never repeats, some rounds are looked at.
struct UnequalDegrees {
  Edge edge;
  Round round;
};
std::optional<UnequalDegrees> FindUnequalDegrees(const Topology& topology);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_WEIGHTS_EQUAL_DEGREES_H_
