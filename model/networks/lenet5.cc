// LeNet-5 (LeCun et al. 1998) with ReLU and max pooling, as it is used today.
#include "model/networks/network_kind.h"

namespace grapevine {
namespace {

NetworkBuilder::Tensor DescribeLeNet5(SpecReader& options, int64_t classes, NetworkBuilder& b) {
  // The paper pads MNIST's 28x28 to 32x32 images.
  const int64_t padding = b.shape(b.input()).h < 32 ? 2 : 0;
  auto x =
      b.Relu(b.Convolution("conv1", b.input(), {.outputs = 6, .kernel = 5, .padding = padding}));
  x = b.MaxPool(x, {});
  x = b.Relu(b.Convolution("conv2", x, {.outputs = 16, .kernel = 5}));
  x = b.MaxPool(x, {});
  x = b.Relu(b.Linear("fc1", x, 120));
  x = b.Relu(b.Linear("fc2", x, 84));
  return b.Linear("fc3", x, classes, {.gain = 1});
}

const Registration kLeNet5(Networks(), {.name = "lenet5",
                                        .help = "two convolutions and three linear layers",
                                        .describe = DescribeLeNet5});

}  // namespace
}  // namespace grapevine
