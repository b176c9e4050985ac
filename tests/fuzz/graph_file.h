// What every reader of graph files promises about its result.
#ifndef GRAPEVINE_TESTS_FUZZ_GRAPH_FILE_H_
#define GRAPEVINE_TESTS_FUZZ_GRAPH_FILE_H_

#include <glog/logging.h>

#include <vector>

#include "absl/status/statusor.h"
#include "tests/fuzz/fuzz_target.h"
#include "topology/files/graph_formats.h"

namespace grapevine::fuzz {

inline void RequireGraph(const absl::StatusOr<GraphDescription>& graph) {
  if (!graph.ok()) return RequireClass(graph.status(), Failure::kInput);
  CHECK(!graph->rounds.empty());
  for (const std::vector<Edge>& round : graph->rounds) {
    for (const Edge& edge : round) {
      CHECK(edge.from >= 0 && edge.from < graph->nodes);
      CHECK(edge.to >= 0 && edge.to < graph->nodes);
      CHECK_NE(edge.from, edge.to);
    }
  }
}

}  // namespace grapevine::fuzz

#endif  // GRAPEVINE_TESTS_FUZZ_GRAPH_FILE_H_
