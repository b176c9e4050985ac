// ResNet-50 for ImageNet (He et al. 2016, table 1), version 1.5: the stride of a
// block belongs to its 3 x 3 convolution, as in torchvision. Parameters have the names and
// the order of torchvision's.
//
// Images may have any extents from 32 x 32 on. `zero_gamma=yes` (the default) starts the
// last batch normalization of each block at 0, so that blocks begin as identities
// (Goyal et al. 2017, section 5.1, arXiv:1706.02677); `no` starts it at 1.
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "model/networks/network_kind.h"

namespace grapevine {
namespace {

using Tensor = NetworkBuilder::Tensor;

constexpr int kBlocks[] = {3, 4, 6, 3};  // number of blocks in each of the four stages
// Ratio of a block's outputs to the width of its 3 x 3 convolution.
constexpr int64_t kExpansion = 4;
// The classifier starts as N(0, 0.01^2) (Goyal et al. 2017, section 5.1).
constexpr double kClassifierDeviation = 0.01;

// Adds a convolution whose weights start as N(0, 2 / (outputs * kernel^2)), as in torchvision. The
// gain is converted, because it refers to the number of inputs.
Tensor Convolve(const std::string& name, Tensor x, int64_t outputs, int64_t kernel, int64_t stride,
                NetworkBuilder& b) {
  const double gain =
      std::sqrt(2 * static_cast<double>(b.shape(x).c) / static_cast<double>(outputs));
  return b.Convolution(name, x,
                       {.outputs = outputs,
                        .kernel = kernel,
                        .stride = stride,
                        .padding = kernel / 2,
                        .bias = false,
                        .gain = gain});
}

// Three convolutions around a shortcut, which is a convolution where shapes change.
Tensor Bottleneck(const std::string& name, Tensor x, int64_t width, int64_t stride,
                  double last_weight, NetworkBuilder& b) {
  const int64_t outputs = kExpansion * width;
  Tensor y = Convolve(name + ".conv1", x, width, 1, 1, b);
  y = b.Relu(b.BatchNorm(name + ".bn1", y));
  y = Convolve(name + ".conv2", y, width, 3, stride, b);
  y = b.Relu(b.BatchNorm(name + ".bn2", y));
  y = Convolve(name + ".conv3", y, outputs, 1, 1, b);
  y = b.BatchNorm(name + ".bn3", y, {.weight = last_weight});
  Tensor shortcut = x;
  if (stride > 1 || b.shape(x).c != outputs) {
    shortcut = Convolve(name + ".downsample.0", x, outputs, 1, stride, b);
    shortcut = b.BatchNorm(name + ".downsample.1", shortcut);
  }
  return b.Relu(b.Add(y, shortcut));
}

Tensor DescribeResNet50(SpecReader& options, int64_t classes, NetworkBuilder& b) {
  const double last_weight = options.Choice("zero_gamma", {"yes", "no"}) == "yes" ? 0 : 1;
  Tensor x = b.Relu(b.BatchNorm("bn1", Convolve("conv1", b.input(), 64, 7, 2, b)));
  x = b.MaxPool(x, {.kernel = 3, .stride = 2, .padding = 1});
  for (int stage = 0; stage < 4; ++stage) {
    for (int block = 0; block < kBlocks[stage]; ++block) {
      const int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      x = Bottleneck(absl::StrCat("layer", stage + 1, ".", block), x, int64_t{64} << stage, stride,
                     last_weight, b);
    }
  }
  x = b.GlobalAveragePool(x);
  return b.Linear(
      "fc", x, classes,
      {.gain = kClassifierDeviation * std::sqrt(static_cast<double>(b.shape(x).size()))});
}

const Registration kResNet50(Networks(), {.name = "resnet50",
                                          .options = "[:zero_gamma=no]",
                                          .help = "for photographs",
                                          .describe = DescribeResNet50});

}  // namespace
}  // namespace grapevine
