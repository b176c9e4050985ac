// A graph as text that other programs read: edge list, GraphML, Graphviz DOT.
//
// Written edge by edge in constant memory, so that graphs which are only
// computed never need to be stored. LoadGraphFile reads all three formats back,
// undirected ones to the same graph.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_TOPOLOGY_FILES_GRAPH_WRITER_H_
#define GRAPEVINE_TOPOLOGY_FILES_GRAPH_WRITER_H_

#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "topology/topology.h"

namespace grapevine {

enum class GraphFormat { kEdges, kGraphml, kDot };

// Takes the text in many small pieces; an error stops the writing and is returned.
using TextSink = std::function<absl::Status(std::string_view)>;

// The edges of a round, ascending: every direction of a directed graph, from the
// node that sends; an undirected edge once, lower rank first. Stops at an error.
absl::Status ForEachEdge(const Topology& topology, Round round,
                         const std::function<absl::Status(Rank from, Rank to)>& visit);

absl::Status WriteGraph(const Topology& topology, Round round, GraphFormat format,
                        const TextSink& sink);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_FILES_GRAPH_WRITER_H_
