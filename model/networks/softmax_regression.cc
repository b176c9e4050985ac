#include "model/networks/softmax_regression.h"

namespace grapevine {

NetworkBuilder::Tensor DescribeSoftmaxRegression(SpecReader& options, int64_t classes,
                                                 NetworkBuilder& b) {
  return b.Linear("fc", b.input(), classes, {.gain = 1});
}

}  // namespace grapevine
