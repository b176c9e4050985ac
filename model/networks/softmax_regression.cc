// Multinomial logistic regression: one linear layer. Convex.
#include "model/networks/network_kind.h"

namespace grapevine {
namespace {

NetworkBuilder::Tensor DescribeSoftmaxRegression(SpecReader& options, int64_t classes,
                                                 NetworkBuilder& b) {
  return b.Linear("fc", b.input(), classes, {.gain = 1});
}

const Registration kSoftmax(Networks(), {.name = "softmax",
                                         .help = "one linear layer",
                                         .describe = DescribeSoftmaxRegression});

}  // namespace
}  // namespace grapevine
