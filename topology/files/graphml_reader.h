// Reads GraphML as other programs write it: NetworkX, graph-tool, igraph, yEd, Gephi and others.
//
// Expat reads the XML: it expands no entities here, opens no other file, and does not recurse. Only
// the attributes that a caller asks for are kept, as text; all other <data> is ignored.
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

// The values of the attributes that were asked for, in the order of the request. An element without
// a value has the default of the <key>; without a default, the value is empty.
using GraphmlValues = std::vector<std::string>;

struct GraphmlNode {
  std::string id;
  GraphmlValues values;
};

struct GraphmlEdge {
  int32_t source = 0;  // index of a node
  int32_t target = 0;
  bool directed = false;
  GraphmlValues values;
};

// A flat graph. Each node has an id of its own; nodes and edges are in the order of the file.
struct GraphmlGraph {
  std::vector<GraphmlNode> nodes;
  std::vector<GraphmlEdge> edges;
};

// The names of the attributes to keep.
struct GraphmlAttributes {
  std::span<const std::string_view> of_nodes;
  std::span<const std::string_view> of_edges;
};

// Parses a GraphML text. Errors carry Failure::kInput and name `path`, which is used for nothing
// else. They also name the line where the XML is broken, otherwise the element, counted from 1:
// "g.graphml: edge 3 (a - b): ...".
absl::StatusOr<GraphmlGraph> ParseGraphml(const std::string& path, std::string_view text,
                                          const GraphmlAttributes& attributes);

// Return the name of a node or an edge as the errors show it: "edge 3 (a - b)". `index` counts from
// 0.
std::string NodeInGraphml(const GraphmlGraph& graph, size_t index);
std::string EdgeInGraphml(const GraphmlGraph& graph, size_t index);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_FILES_GRAPHML_READER_H_
