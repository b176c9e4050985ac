// --topology=file:x.graphml (topology/files/graph_formats.h).
#include "tests/fuzz/graph_file.h"
#include "topology/files/graph_formats.h"

namespace grapevine {
namespace {

void Play(const uint8_t* data, size_t size) {
  const fuzz::InputFile file(data, size);
  fuzz::RequireGraph(ReadGraphml(file.path()));
}

const fuzz::Target target("graphml", Play);

}  // namespace
}  // namespace grapevine
