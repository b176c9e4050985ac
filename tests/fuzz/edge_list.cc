// --topology=file:x.edges (topology/files/graph_formats.h).
#include "tests/fuzz/graph_file.h"
#include "topology/files/graph_formats.h"

namespace grapevine {
namespace {

FUZZ_TARGET(edge_list) {
  const fuzz::InputFile file(data, size);
  fuzz::RequireGraph(ReadEdgeList(file.path()));
}

}  // namespace
}  // namespace grapevine
