#include "model/networks/mlp.h"

namespace grapevine {

NetworkBuilder::Tensor DescribeMlp(SpecReader& options, int64_t classes, NetworkBuilder& b) {
  auto x = b.Relu(b.Linear("fc1", b.input(), 256));
  x = b.Relu(b.Linear("fc2", x, 128));
  return b.Linear("fc3", x, classes, {.gain = 1});
}

}  // namespace grapevine
