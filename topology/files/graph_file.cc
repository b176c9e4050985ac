// file:PATH: a user's own graph, directed or not. The file is hostile until proven a graph: every
// error names the file and, where the format has lines, the line.
//
// The ending of the name decides how the file is read:
//   .graphml, .xml   GraphML; ranks are the ids if those are 0, 1, ..., n - 1, otherwise they
//                    follow the order of the node elements
//   .dot, .gv        Graphviz DOT; ranks in the order of the names of the
//                    nodes, in which runs of digits compare as numbers
//   anything else    an edge list: "u v" a line, or "u -> v" for one direction; "#" and
//                    "%" begin comments; in a schedule "round R" begins each round
//
// Thread-safety: pure functions.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status.h"
#include "topology/files/graph_formats.h"
#include "topology/stored_graph.h"
#include "topology/stored_schedule.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

absl::StatusOr<GraphDescription> ReadByEnding(const std::string& path) {
  const std::string lower = absl::AsciiStrToLower(path);
  const auto ends = [&](std::string_view ending) { return lower.ends_with(ending); };
  if (ends(".graphml") || ends(".xml")) return ReadGraphml(path);
  if (ends(".dot") || ends(".gv")) return ReadDot(path);
  return ReadEdgeList(path);
}

// Loads a graph of n nodes. Refuses a graph that has another size, has loops, or is not connected
// over all its rounds (strongly connected, if it is directed): otherwise some nodes would never
// hear of others. Errors about the content carry Failure::kInput; an n that does not fit carries
// Failure::kUsage.
absl::StatusOr<std::shared_ptr<const Topology>> LoadGraphFile(const Spec& spec, Rank n, uint64_t) {
  const std::string& name = spec.text;
  const std::string path = SpecReader(spec).Argument();
  if (path.empty()) return SpecError(name, "a path is missing");
  ASSIGN_OR_RETURN(auto graph, ReadByEnding(path));
  if (graph.nodes == 0) return InputError(path, "a graph without nodes");
  if (graph.nodes != n) {
    return SizeError(name, n, absl::StrCat("the file has ", graph.nodes, " nodes"), graph.nodes);
  }
  const auto rounds = static_cast<int64_t>(graph.rounds.size());
  if (rounds > kMostScheduled / n) {
    return InputError(path, absl::StrCat(rounds, " rounds of ", n, " nodes are too many; at most ",
                                         kMostScheduled / n));
  }
  std::vector<Edge> edges;
  for (const std::vector<Edge>& round : graph.rounds) {
    edges.insert(edges.end(), round.begin(), round.end());
  }
  if (const auto node = FirstUnreachable(n, edges)) {
    return InputError(path, absl::StrCat("not connected: no path from node 0 to node ", *node));
  }
  const auto path_missing = graph.directed ? MissingPath(n, edges) : std::nullopt;
  if (path_missing) {
    return InputError(path, absl::StrCat("not strongly connected: no path from node ",
                                         path_missing->from, " to node ", path_missing->to));
  }
  return MakeStoredSchedule(name, n, std::move(graph.rounds), graph.directed);
}

const Registration kFile(
    Topologies(), {.name = "file",
                   .options = ":PATH",
                   .help = "a graph of your own: an edge list, GraphML or DOT; or a schedule",
                   .tail = true,
                   .drawn = true,
                   .make = LoadGraphFile});

}  // namespace
}  // namespace grapevine
