// What a graph file says, before it is known to be a usable topology.
#ifndef GRAPEVINE_TOPOLOGY_FILES_GRAPH_DESCRIPTION_H_
#define GRAPEVINE_TOPOLOGY_FILES_GRAPH_DESCRIPTION_H_

#include <cstdint>
#include <vector>

#include "topology/stored_graph.h"

namespace grapevine {

struct GraphDescription {
  int64_t nodes = 0;
  std::vector<Edge> edges;  // undirected, ranks in [0, nodes), no loops
};

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_FILES_GRAPH_DESCRIPTION_H_
