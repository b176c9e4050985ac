#include "topology/files/graph_writer.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

// The texts of a format; $0 and $1 are the ranks.
struct Syntax {
  std::string head;
  const char* node;  // nullptr: nodes are not listed
  const char* edge;
  const char* tail;
};

Syntax SyntaxOf(const Topology& topology, Round round, GraphFormat format) {
  switch (format) {
    case GraphFormat::kGraphml:
      return {absl::StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                           "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
                           "<graph edgedefault=\"",
                           topology.directed() ? "directed" : "undirected", "\">\n"),
              "<node id=\"$0\"/>\n", "<edge source=\"$0\" target=\"$1\"/>\n",
              "</graph>\n</graphml>\n"};
    case GraphFormat::kDot:
      return topology.directed() ? Syntax{"digraph {\n", "$0;\n", "$0 -> $1;\n", "}\n"}
                                 : Syntax{"graph {\n", "$0;\n", "$0 -- $1;\n", "}\n"};
    case GraphFormat::kEdges:
      break;
  }
  const std::string when = topology.period() == 1 ? "" : absl::StrCat(", round ", round);
  return {absl::StrCat("# ", topology.name(), ", ", topology.size(), " nodes", when, "\n"), nullptr,
          "$0 $1\n", ""};
}

}  // namespace

absl::Status ForEachEdge(const Topology& topology, Round round,
                         const std::function<absl::Status(Rank from, Rank to)>& visit) {
  std::vector<Rank> neighbours;
  for (Rank from = 0; from < topology.size(); ++from) {
    topology.OutNeighbours(from, round, &neighbours);
    for (Rank to : neighbours) {
      if (!topology.directed() && to < from) continue;
      RETURN_IF_ERROR(visit(from, to));
    }
  }
  return absl::OkStatus();
}

absl::Status WriteGraph(const Topology& topology, Round round, GraphFormat format,
                        const TextSink& sink) {
  const Syntax syntax = SyntaxOf(topology, round, format);
  absl::Status status = sink(syntax.head);
  for (Rank rank = 0; syntax.node != nullptr && status.ok() && rank < topology.size(); ++rank) {
    status = sink(absl::Substitute(syntax.node, rank));
  }
  RETURN_IF_ERROR(status);
  status = ForEachEdge(topology, round, [&](Rank from, Rank to) {
    return sink(absl::Substitute(syntax.edge, from, to));
  });
  return status.ok() ? sink(syntax.tail) : status;
}

}  // namespace grapevine
