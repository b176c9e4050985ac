#include "model/networks/mlp.h"

namespace grapevine {

NetworkBuilder::Tensor DescribeMlp(SpecReader& options, int64_t classes, NetworkBuilder& b) {
  const int64_t width = options.Integer("width", 256, 2, 65536);
  auto x = b.Relu(b.Linear("fc1", b.input(), width));
  x = b.Relu(b.Linear("fc2", x, width / 2));
  return b.Linear("fc3", x, classes, {.gain = 1});
}

}  // namespace grapevine
