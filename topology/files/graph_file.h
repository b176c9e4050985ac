// file:PATH: a user's own undirected graph. The file is hostile until proven a
// graph: every error names the file and, where the format has lines, the line.
//
// The ending of the name decides how it is read:
//   .graphml, .xml   GraphML; ranks in the order of the node elements
//   .dot, .gv        Graphviz DOT; ranks in the order of the names of the
//                    nodes, in which runs of digits compare as numbers
//   anything else    an edge list: two ranks a line, "#" and "%" begin comments
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_FILES_GRAPH_FILE_H_
#define GRAPEVINE_TOPOLOGY_FILES_GRAPH_FILE_H_

#include <string_view>

#include "topology/topology.h"

namespace grapevine {

// Refuses what is not a connected undirected graph of n nodes without loops.
// Errors about the content carry Failure::kInput, an n that does not fit
// Failure::kUsage.
absl::StatusOr<std::shared_ptr<const Topology>> LoadGraphFile(std::string_view path, Rank n);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_FILES_GRAPH_FILE_H_
