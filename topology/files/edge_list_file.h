// Edge lists: two ranks a line, from 0. What begins with "{" behind them, the
// attributes that NetworkX writes ("{'weight': 0.5}"), is passed over: weights
// come from --mixing.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_FILES_EDGE_LIST_FILE_H_
#define GRAPEVINE_TOPOLOGY_FILES_EDGE_LIST_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "topology/files/graph_description.h"

namespace grapevine {

// Errors name file and line and carry Failure::kInput.
absl::StatusOr<GraphDescription> ReadEdgeList(const std::string& path);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_FILES_EDGE_LIST_FILE_H_
