#include "topology/files/edge_list_file.h"

#include <algorithm>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "topology/files/field_reader.h"

namespace grapevine {
namespace {

constexpr Rank kHighest = std::numeric_limits<Rank>::max() - 1;

absl::StatusOr<Rank> ParseRank(const FieldReader& line, std::string_view field) {
  int64_t rank = 0;
  if (!absl::SimpleAtoi(std::string(field), &rank) || rank < 0 || rank > kHighest) {
    return line.Error(absl::StrCat(Quoted(field), " is not a rank; ranks are 0, 1, 2, ..."));
  }
  return static_cast<Rank>(rank);
}

absl::StatusOr<Edge> ParseEdge(const FieldReader& line) {
  const auto& fields = line.fields();
  if (fields.size() == 3 && (fields[1] == "->" || fields[1] == "-->")) {
    return line.Error(
        "a directed edge; directed graphs need push-sum, write \"u v\" for both ways");
  }
  const bool attributes = fields.size() > 2 && fields[2].starts_with('{');
  if (fields.size() != 2 && !attributes) {
    return line.Error(absl::StrCat("expected two ranks, fields found: ", fields.size(),
                                   " (weights come from --mixing)"));
  }
  ASSIGN_OR_RETURN(const auto from, ParseRank(line, fields[0]));
  ASSIGN_OR_RETURN(const auto to, ParseRank(line, fields[1]));
  if (from == to) {
    return line.Error(absl::StrCat("an edge from ", from,
                                   " to itself; every node averages itself anyway, remove it"));
  }
  return Edge{from, to};
}

}  // namespace

absl::StatusOr<GraphDescription> ReadEdgeList(const std::string& path) {
  ASSIGN_OR_RETURN(auto line, FieldReader::Open(path));
  GraphDescription graph;
  Rank lowest = kHighest, highest = -1;
  while (line.Next()) {
    ASSIGN_OR_RETURN(const auto edge, ParseEdge(line));
    if (graph.edges.size() == kMaxStoredEdges) {
      return line.Error(absl::StrCat("more than ", kMaxStoredEdges, " edges"));
    }
    graph.edges.push_back(edge);
    lowest = std::min({lowest, edge.from, edge.to});
    highest = std::max({highest, edge.from, edge.to});
  }
  if (highest >= 0 && lowest > 0) {
    return line.Error(absl::StrCat("the lowest rank up to here is ", lowest,
                                   "; ranks begin at 0, subtract ", lowest));
  }
  graph.nodes = int64_t{highest} + 1;
  return graph;
}

}  // namespace grapevine
