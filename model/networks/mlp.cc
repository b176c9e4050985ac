// Three linear layers with ReLU. The hidden layers have `width` (256) and `width` / 2 outputs.
#include "model/networks/network_kind.h"

namespace grapevine {
namespace {

NetworkBuilder::Tensor DescribeMlp(SpecReader& options, int64_t classes, NetworkBuilder& b) {
  const int64_t width = options.Integer("width", 256, 2, 65536);
  auto x = b.Relu(b.Linear("fc1", b.input(), width));
  x = b.Relu(b.Linear("fc2", x, width / 2));
  return b.Linear("fc3", x, classes, {.gain = 1});
}

const Registration kMlp(Networks(), {.name = "mlp",
                                     .options = "[:width=256]",
                                     .help = "three linear layers",
                                     .describe = DescribeMlp});

}  // namespace
}  // namespace grapevine
