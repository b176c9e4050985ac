// Reads GraphML as other programs write it: NetworkX, graph-tool, igraph, yEd, Gephi and others.
//
// Expat reads the XML: it expands no entities here, opens no other file, and does not recurse. Only
// the attributes that a caller asks for are kept, as text; nothing else in <data> is looked at.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_FILES_GRAPHML_READER_H_
#define GRAPEVINE_TOPOLOGY_FILES_GRAPHML_READER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

// The values of attributes by their number among those asked for: the default of the <key> where
// the element has none, else empty.
using GraphmlValues = std::vector<std::string>;

struct GraphmlNode {
  std::string id;
  GraphmlValues values;
};

struct GraphmlEdge {
  int32_t source = 0;  // of the nodes
  int32_t target = 0;
  bool directed = false;
  GraphmlValues values;
};

// A flat graph; its nodes have ids of their own, in the order of the file.
struct GraphmlGraph {
  std::vector<GraphmlNode> nodes;
  std::vector<GraphmlEdge> edges;
};

// The names of the attributes to keep, of nodes and of edges.
struct GraphmlAttributes {
  std::span<const std::string_view> of_nodes;
  std::span<const std::string_view> of_edges;
};

// Errors carry Failure::kInput and name `path` and, where the XML is broken, the line, else the
// element: "g.graphml: edge 3 (a - b): ...", counted from 1. `path` is only for them.
absl::StatusOr<GraphmlGraph> ParseGraphml(const std::string& path, std::string_view text,
                                          const GraphmlAttributes& attributes);

// "edge 3 (a - b)", as the errors name it; so for nodes. `index` counts from 0.
std::string NodeInGraphml(const GraphmlGraph& graph, size_t index);
std::string EdgeInGraphml(const GraphmlGraph& graph, size_t index);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_FILES_GRAPHML_READER_H_
