#include "topology/files/boost_graph_file.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/graphml.hpp>
#include <boost/graph/graphviz.hpp>
#include <boost/property_tree/detail/file_parser_error.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <sstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "system/mapped_file.h"
#include "topology/files/dot_limits.h"
#include "topology/files/xml_depth.h"

namespace grapevine {
namespace {

struct NamedNode {
  std::string name;
};
using BoostGraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, NamedNode>;

// Boost's reader descends into what it reads: deeper nesting than any graph needs
// would overflow the stack.
constexpr int64_t kDeepest = 250;

absl::StatusOr<std::string> ReadText(const std::string& path) {
  const auto file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  const auto bytes = (*file)->bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Runs one of Boost's readers, which report by exceptions.
absl::Status Guarded(const std::string& path, std::string_view format,
                     const std::function<bool()>& read) {
  try {
    if (read()) return absl::OkStatus();
    return InputError(path, absl::StrCat("not ", std::string(format)));
  } catch (const boost::directed_graph_error&) {
    return InputError(path, "a directed graph: directed graphs need push-sum, make it undirected");
  } catch (const boost::property_tree::file_parser_error& error) {
    return InputError(absl::StrCat(path, ":", error.line()),
                      absl::StrCat("not ", std::string(format), ": ", error.message()));
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

// rank[v] of Boost's vertex v, by its name.
std::vector<Rank> RanksByName(const BoostGraph& graph) {
  std::vector<Rank> order(num_vertices(graph));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](Rank a, Rank b) { return NaturallyBefore(graph[a].name, graph[b].name); });
  std::vector<Rank> ranks(order.size());
  for (size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<Rank>(i);
  return ranks;
}

absl::StatusOr<GraphDescription> Describe(const std::string& path, const BoostGraph& graph,
                                          const std::vector<Rank>& ranks) {
  GraphDescription description{.nodes = static_cast<int64_t>(num_vertices(graph)), .edges = {}};
  for (auto [edge, end] = edges(graph); edge != end; ++edge) {
    const Rank from = ranks[source(*edge, graph)], to = ranks[target(*edge, graph)];
    if (from == to) {
      return InputError(path, absl::StrCat("an edge from node ", from,
                                           " to itself; every node averages itself anyway, "
                                           "remove it"));
    }
    description.edges.push_back({from, to});
  }
  return description;
}

}  // namespace

absl::StatusOr<GraphDescription> ReadGraphml(const std::string& path) {
  ASSIGN_OR_RETURN(auto text, ReadText(path));
  if (!XmlIsShallow(text, kDeepest)) {
    return InputError(path, absl::StrCat("not GraphML: elements nested more than ", kDeepest,
                                         " deep, or a document type with declarations"));
  }
  BoostGraph graph;
  const absl::Status status = Guarded(path, "GraphML", [&] {
    std::istringstream stream(std::move(text));
    boost::dynamic_properties properties(boost::ignore_other_properties);
    boost::read_graphml(stream, graph, properties);
    return true;
  });
  RETURN_IF_ERROR(status);
  std::vector<Rank> ranks(num_vertices(graph));
  std::iota(ranks.begin(), ranks.end(), 0);
  return Describe(path, graph, ranks);
}

absl::StatusOr<GraphDescription> ReadDot(const std::string& path) {
  ASSIGN_OR_RETURN(const auto text, ReadText(path));
  if (const std::string excess = DotExcess(text); !excess.empty()) {
    return InputError(path, excess);
  }
  BoostGraph graph;
  const absl::Status status = Guarded(path, "DOT", [&] {
    boost::dynamic_properties properties(boost::ignore_other_properties);
    properties.property("node_id", get(&NamedNode::name, graph));
    return boost::read_graphviz(text, graph, properties);
  });
  RETURN_IF_ERROR(status);
  return Describe(path, graph, RanksByName(graph));
}

}  // namespace grapevine
