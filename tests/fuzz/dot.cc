// --topology=file:x.dot (topology/files/graph_formats.h).
#include "tests/fuzz/graph_file.h"
#include "topology/files/graph_formats.h"

namespace grapevine {
namespace {

FUZZ_TARGET(dot) {
  const fuzz::InputFile file(data, size);
  fuzz::RequireGraph(ReadDot(file.path()));
}

}  // namespace
}  // namespace grapevine
