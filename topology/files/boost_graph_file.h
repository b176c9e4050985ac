// GraphML and Graphviz DOT, read by Boost.Graph.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_FILES_BOOST_GRAPH_FILE_H_
#define GRAPEVINE_TOPOLOGY_FILES_BOOST_GRAPH_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "topology/files/graph_description.h"

namespace grapevine {

// Ranks in the order of the node elements. Errors name the file (and the line,
// where the XML itself is broken) and carry Failure::kInput.
absl::StatusOr<GraphDescription> ReadGraphml(const std::string& path);

// Ranks in the order of the names, in which runs of digits compare as numbers:
// n2 comes before n10.
absl::StatusOr<GraphDescription> ReadDot(const std::string& path);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_FILES_BOOST_GRAPH_FILE_H_
