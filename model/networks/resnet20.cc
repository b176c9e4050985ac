// ResNet-20 for CIFAR (He et al. 2016, section 4.2), with the shortcuts of option A.
#include <string>

#include "absl/strings/str_cat.h"
#include "model/networks/network_kind.h"

namespace grapevine {
namespace {

using Tensor = NetworkBuilder::Tensor;

Tensor Convolve(const std::string& name, Tensor x, int64_t outputs, int64_t stride,
                NetworkBuilder& b) {
  return b.Convolution(name, x,
                       {.outputs = outputs, .stride = stride, .padding = 1, .bias = false});
}

// Two convolutions around a shortcut without parameters.
Tensor Block(const std::string& name, Tensor x, int64_t channels, int64_t stride,
             NetworkBuilder& b) {
  Tensor y = Convolve(name + ".conv1", x, channels, stride, b);
  y = b.Relu(b.BatchNorm(name + ".bn1", y));
  y = Convolve(name + ".conv2", y, channels, 1, b);
  y = b.BatchNorm(name + ".bn2", y);
  const Tensor shortcut = stride == 1 ? x : b.Subsample(x, channels, stride);
  return b.Relu(b.Add(y, shortcut));
}

Tensor DescribeResNet20(SpecReader& options, int64_t classes, NetworkBuilder& b) {
  Tensor x = b.Relu(b.BatchNorm("bn1", Convolve("conv1", b.input(), 16, 1, b)));
  for (int stage = 1; stage <= 3; ++stage) {
    for (int block = 0; block < 3; ++block) {
      const int64_t stride = stage > 1 && block == 0 ? 2 : 1;
      x = Block(absl::StrCat("layer", stage, ".", block), x, int64_t{8} << stage, stride, b);
    }
  }
  return b.Linear("fc", b.GlobalAveragePool(x), classes, {.gain = 1});
}

const Registration kResNet20(Networks(), {.name = "resnet20",
                                          .help = "for images of 32 x 32",
                                          .describe = DescribeResNet20});

}  // namespace
}  // namespace grapevine
