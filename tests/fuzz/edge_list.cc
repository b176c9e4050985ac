// --topology=file:x.edges (topology/files/edge_list_file.h).
#include "tests/fuzz/graph_file.h"
#include "topology/files/edge_list_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapevine;  // NOLINT(build/namespaces)
  const fuzz::InputFile file(data, size);
  fuzz::RequireGraph(ReadEdgeList(file.path()));
  return 0;
}
