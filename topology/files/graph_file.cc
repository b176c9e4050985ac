#include "topology/files/graph_file.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/spec.h"
#include "base/status_macros.h"
#include "topology/files/boost_graph_file.h"
#include "topology/files/edge_list_file.h"
#include "topology/size_error.h"
#include "topology/stored_graph.h"

namespace grapevine {
namespace {

absl::StatusOr<GraphDescription> ReadByEnding(const std::string& path) {
  const std::string lower = absl::AsciiStrToLower(path);
  const auto ends = [&](std::string_view ending) { return lower.ends_with(ending); };
  if (ends(".graphml") || ends(".xml")) return ReadGraphml(path);
  if (ends(".dot") || ends(".gv")) return ReadDot(path);
  return ReadEdgeList(path);
}

absl::Status InputError(const std::string& path, std::string_view message) {
  return WithFailure(absl::InvalidArgumentError(absl::StrCat(path, ": ", std::string(message))),
                     Failure::kInput);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Topology>> LoadGraphFile(std::string_view path_view, Rank n) {
  const std::string path(path_view);
  const std::string name = absl::StrCat("file:", path);
  if (path.empty()) return SpecError(name, "a path is missing");
  ASSIGN_OR_RETURN(auto graph, ReadByEnding(path));
  if (graph.nodes == 0) return InputError(path, "a graph without nodes");
  if (graph.nodes != n) {
    return SizeError(name, n, absl::StrCat("the file has ", graph.nodes, " nodes"), graph.nodes);
  }
  if (const auto node = FirstUnreachable(n, graph.edges)) {
    return InputError(path, absl::StrCat("not connected: no way from node 0 to node ", *node));
  }
  return MakeStoredGraph(name, n, std::move(graph.edges));
}

}  // namespace grapevine
