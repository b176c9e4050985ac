#include "topology/files/graph_formats.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphviz.hpp>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "base/status.h"
#include "system/file.h"
#include "topology/files/dot_text.h"
#include "topology/files/field_reader.h"
#include "topology/files/graphml_reader.h"

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

struct Line {
  Edge edge;
  bool directed;
};

absl::StatusOr<Line> ParseEdge(const FieldReader& line) {
  const auto& fields = line.fields();
  const bool directed = fields.size() > 1 && (fields[1] == "->" || fields[1] == "-->");
  const size_t second = directed ? 2 : 1;
  const bool attributes = fields.size() > second + 1 && fields[second + 1].starts_with('{');
  if (fields.size() != second + 1 && !attributes) {
    return line.Error(absl::StrCat("expected two ranks, fields found: ", fields.size(),
                                   " (weights come from --mixing)"));
  }
  ASSIGN_OR_RETURN(const auto from, ParseRank(line, fields[0]));
  ASSIGN_OR_RETURN(const auto to, ParseRank(line, fields[second]));
  if (from == to) {
    return line.Error(absl::StrCat("an edge from ", from,
                                   " to itself; every node averages itself anyway, remove it"));
  }
  return Line{{from, to}, directed};
}

struct LineRound {
  std::vector<Edge> both_ways;
  std::vector<Edge> one_way;
};

// Returns the edges of a round. In a directed graph, an edge that goes both ways becomes one each
// way.
std::vector<Edge> EdgesOf(LineRound round, bool directed) {
  std::vector<Edge> edges = std::move(round.one_way);
  for (const Edge& edge : round.both_ways) {
    edges.push_back(edge);
    if (directed) edges.push_back({edge.to, edge.from});
  }
  return edges;
}

bool BeginsRound(const FieldReader& line) { return line.fields().front() == "round"; }

// Begins the next round, at the current line "round R".
absl::Status BeginRound(const FieldReader& line, size_t edges, std::vector<LineRound>* rounds) {
  if (rounds->empty() && edges > 0) {
    return line.Error("edges stand before the first round; begin with the line \"round 0\"");
  }
  const std::string next = absl::StrCat(rounds->size());
  if (line.fields().size() != 2 || line.fields()[1] != next) {
    return line.Error(
        absl::StrCat("expected \"round ", next, "\": rounds are 0, 1, 2, ..., each once"));
  }
  rounds->emplace_back();
  return absl::OkStatus();
}

struct NamedNode {
  std::string name;
};
template <typename Directedness>
using BoostGraph = boost::adjacency_list<boost::vecS, boost::vecS, Directedness, NamedNode>;

std::string_view TextOf(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// Runs one of Boost's readers, which report errors by exceptions.
absl::Status Guarded(const std::string& path, std::string_view format,
                     const std::function<bool()>& read) {
  try {
    if (read()) return absl::OkStatus();
    return InputError(path, absl::StrCat("not ", std::string(format)));
  } catch (const std::exception& error) {
    return InputError(path, absl::StrCat("not ", std::string(format), ": ", error.what()));
  }
}

bool NaturallyBefore(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (absl::ascii_isdigit(a[0]) && absl::ascii_isdigit(b[0])) {
      const auto digits = [](std::string_view text) {
        return text.substr(0, std::min(text.size(), text.find_first_not_of("0123456789")));
      };
      const auto significant = [](std::string_view number) {
        return number.substr(std::min(number.size() - 1, number.find_first_not_of('0')));
      };
      const std::string_view number_a = digits(a), number_b = digits(b);
      const std::string_view value_a = significant(number_a), value_b = significant(number_b);
      if (value_a.size() != value_b.size()) return value_a.size() < value_b.size();
      if (value_a != value_b) return value_a < value_b;
      a.remove_prefix(number_a.size());
      b.remove_prefix(number_b.size());
    } else {
      if (a[0] != b[0]) return a[0] < b[0];
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.size() < b.size();
}

// Returns the rank of each node: its id where the ids are exactly 0, 1, ..., n - 1, in any order;
// otherwise its place in the file.
std::vector<Rank> RanksById(const std::vector<GraphmlNode>& nodes) {
  std::vector<Rank> ranks;
  for (const GraphmlNode& node : nodes) {
    Rank rank = 0;
    // Ids differ, so that n ids that are all numbers below n are all of these numbers.
    const bool number = absl::SimpleAtoi(node.id, &rank) && absl::StrCat(rank) == node.id;
    if (!number || rank < 0 || static_cast<size_t>(rank) >= nodes.size()) {
      ranks.resize(nodes.size());
      std::iota(ranks.begin(), ranks.end(), 0);
      return ranks;
    }
    ranks.push_back(rank);
  }
  return ranks;
}

// Returns ranks by Boost's vertex: each vertex is ranked by its name.
std::vector<Rank> RanksByName(const auto& graph) {
  std::vector<Rank> order(num_vertices(graph));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](Rank a, Rank b) { return NaturallyBefore(graph[a].name, graph[b].name); });
  std::vector<Rank> ranks(order.size());
  for (size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<Rank>(i);
  return ranks;
}

absl::StatusOr<GraphDescription> Describe(const std::string& path, const auto& graph,
                                          const std::vector<Rank>& ranks) {
  GraphDescription description{.nodes = static_cast<int64_t>(num_vertices(graph)),
                               .directed = is_directed(graph)};
  for (auto [edge, end] = edges(graph); edge != end; ++edge) {
    const Rank from = ranks[source(*edge, graph)], to = ranks[target(*edge, graph)];
    if (from == to) {
      return InputError(path, absl::StrCat("an edge from node ", from,
                                           " to itself; every node averages itself anyway, "
                                           "remove it"));
    }
    description.rounds.front().push_back({from, to});
  }
  return description;
}

// Reads the graph of a file in which edges go both ways or one way. `read` takes a graph of either
// kind; Boost's readers refuse the wrong one. `ranks` returns the ranks of a graph's vertices.
absl::StatusOr<GraphDescription> ReadEither(const std::string& path, std::string_view format,
                                            const auto& read, const auto& ranks) {
  BoostGraph<boost::undirectedS> both_ways;
  BoostGraph<boost::directedS> one_way;
  bool directed = false;
  RETURN_IF_ERROR(Guarded(path, format, [&] {
    try {
      return read(both_ways);
    } catch (const boost::directed_graph_error&) {
      directed = true;
      return read(one_way);
    }
  }));
  return directed ? Describe(path, one_way, ranks(one_way))
                  : Describe(path, both_ways, ranks(both_ways));
}

// The texts of a format; $0 and $1 stand for ranks.
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
          topology.directed() ? "$0 -> $1\n" : "$0 $1\n", ""};
}

}  // namespace

absl::StatusOr<GraphDescription> ReadEdgeList(const std::string& path) {
  ASSIGN_OR_RETURN(auto line, FieldReader::Open(path));
  GraphDescription graph;
  LineRound only;
  std::vector<LineRound> rounds;  // the rounds of a schedule
  size_t edges = 0;
  Rank lowest = kHighest, highest = -1;
  while (line.Next()) {
    if (BeginsRound(line)) {
      RETURN_IF_ERROR(BeginRound(line, edges, &rounds));
      continue;
    }
    ASSIGN_OR_RETURN(const auto parsed, ParseEdge(line));
    const Edge& edge = parsed.edge;
    if (edges++ == kMaxStoredEdges) {
      return line.Error(absl::StrCat("more than ", kMaxStoredEdges, " edges"));
    }
    LineRound& round = rounds.empty() ? only : rounds.back();
    (parsed.directed ? round.one_way : round.both_ways).push_back(edge);
    graph.directed |= parsed.directed;
    lowest = std::min({lowest, edge.from, edge.to});
    highest = std::max({highest, edge.from, edge.to});
  }
  if (highest >= 0 && lowest > 0) {
    return line.Error(absl::StrCat("the lowest rank up to here is ", lowest,
                                   "; ranks begin at 0, subtract ", lowest));
  }
  graph.nodes = int64_t{highest} + 1;
  if (rounds.empty()) rounds.push_back(std::move(only));
  graph.rounds.clear();
  for (LineRound& round : rounds) graph.rounds.push_back(EdgesOf(std::move(round), graph.directed));
  return graph;
}

absl::StatusOr<GraphDescription> ReadGraphml(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  ASSIGN_OR_RETURN(const auto graph, ParseGraphml(path, TextOf(**file), {}));
  const std::vector<Rank> ranks = RanksById(graph.nodes);
  LineRound edges;
  bool directed = false;
  for (size_t i = 0; i < graph.edges.size(); ++i) {
    const GraphmlEdge& edge = graph.edges[i];
    if (edge.source == edge.target) {
      return InputError(path, absl::StrCat(EdgeInGraphml(graph, i),
                                           ": joins a node to itself; every node averages itself "
                                           "anyway, remove it"));
    }
    (edge.directed ? edges.one_way : edges.both_ways)
        .push_back({ranks[edge.source], ranks[edge.target]});
    directed |= edge.directed;
  }
  return GraphDescription{.nodes = static_cast<int64_t>(graph.nodes.size()),
                          .rounds = {EdgesOf(std::move(edges), directed)},
                          .directed = directed};
}

absl::StatusOr<GraphDescription> ReadDot(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  if (const std::string excess = DotExcess(TextOf(**file)); !excess.empty()) {
    return InputError(path, excess);
  }
  const std::string text = InBoostsDot(TextOf(**file));
  const auto read = [&](auto& graph) {
    boost::dynamic_properties properties(boost::ignore_other_properties);
    properties.property("node_id", get(&NamedNode::name, graph));
    return boost::read_graphviz(text, graph, properties);
  };
  return ReadEither(path, "DOT", read, [](const auto& graph) { return RanksByName(graph); });
}

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

absl::Status WriteSchedule(const Topology& topology, const TextSink& sink) {
  if (topology.period() == 1) return WriteGraph(topology, 0, GraphFormat::kEdges, sink);
  absl::Status status = sink(absl::StrCat("# ", topology.name(), ", ", topology.size(), " nodes, ",
                                          topology.period(), " rounds\n"));
  for (Round round = 0; status.ok() && round < topology.period(); ++round) {
    status = sink(absl::StrCat("round ", round, "\n"));
    RETURN_IF_ERROR(status);
    status = ForEachEdge(topology, round, [&](Rank from, Rank to) {
      return sink(absl::StrCat(from, topology.directed() ? " -> " : " ", to, "\n"));
    });
  }
  return status;
}

}  // namespace grapevine
