// --topology=file:x.edges (topology/edge_list_file.h).
#include <glog/logging.h>

#include "tests/fuzz/fuzz_input.h"
#include "topology/edge_list_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapevine;  // NOLINT(build/namespaces)
  const fuzz::InputFile file(data, size);
  const auto graph = ReadEdgeList(file.path());
  if (!graph.ok()) {
    fuzz::RequireClass(graph.status(), Failure::kInput);
    return 0;
  }
  for (const Edge& edge : graph->edges) {
    CHECK(edge.from >= 0 && edge.from < graph->nodes);
    CHECK(edge.to >= 0 && edge.to < graph->nodes);
    CHECK_NE(edge.from, edge.to);
  }
  return 0;
}
