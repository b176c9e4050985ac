// Reads and writes the graph formats of other programs: edge lists, GraphML, Graphviz DOT.
//
// Everything that is written can be read back, and gives the same graph. An edge list may also be a
// schedule, round by round.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_FILES_GRAPH_FORMATS_H_
#define GRAPEVINE_TOPOLOGY_FILES_GRAPH_FORMATS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "topology/stored_graph.h"
#include "topology/topology.h"

namespace grapevine {

// The contents of a graph file, before it is known to be a usable topology.
struct GraphDescription {
  int64_t nodes = 0;
  // The edges of each round: ranks in [0, nodes), no loops. A graph that stays the same has one
  // round.
  std::vector<std::vector<Edge>> rounds = {{}};
  bool directed = false;  // whether an edge goes one way only, unless listed both ways
};

// Reads an edge list with two ranks per line, from 0 on. An edge that goes both ways is "u v", one
// that goes one way is "u -> v". The attributes that NetworkX writes after the ranks
// ("{'weight': 0.5}") are ignored: weights come from --mixing. In a schedule, a line "round R"
// begins each round, from 0 on; a round may have no edges. Errors name file and line and carry
// Failure::kInput.
absl::StatusOr<GraphDescription> ReadEdgeList(const std::string& path);

// Reads a GraphML file. Ranks are the ids where those are exactly 0, 1, ..., n - 1; otherwise they
// follow the order of the node elements. Errors are those of graphml_reader.h.
absl::StatusOr<GraphDescription> ReadGraphml(const std::string& path);

// Reads a DOT file with Boost.Graph. Ranks follow the order of the names, in which runs of digits
// compare as numbers: n2 comes before n10.
absl::StatusOr<GraphDescription> ReadDot(const std::string& path);

enum class GraphFormat { kEdges, kGraphml, kDot };

// Called with many small pieces of text; an error stops the writing and is returned.
using TextSink = std::function<absl::Status(std::string_view)>;

// Visits the edges of a round in ascending order: every direction of a directed graph, from the
// node that sends; an undirected edge once, lower rank first. Stops at an error, and returns it.
absl::Status ForEachEdge(const Topology& topology, Round round,
                         const std::function<absl::Status(Rank from, Rank to)>& visit);

// Writes the graph of a round edge by edge in constant memory, so that computed graphs never need
// to be stored.
absl::Status WriteGraph(const Topology& topology, Round round, GraphFormat format,
                        const TextSink& sink);

// Writes all rounds of a period as an edge list. The topology must have a period.
absl::Status WriteSchedule(const Topology& topology, const TextSink& sink);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_FILES_GRAPH_FORMATS_H_
