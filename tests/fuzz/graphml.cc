// --topology=file:x.graphml (topology/files/graph_formats.h).
#include "tests/fuzz/graph_file.h"
#include "topology/files/graph_formats.h"

namespace grapevine {
namespace {

FUZZ_TARGET(graphml) {
  const fuzz::InputFile file(data, size);
  fuzz::RequireGraph(ReadGraphml(file.path()));
}

}  // namespace
}  // namespace grapevine
