// ResNet-50 for ImageNet (He et al. 2016, table 1), version 1.5: the 3 x 3
// convolution of a block has its stride, as in torchvision, whose names and order
// of parameters it has too.
//
// Images of any extents from 32 x 32 on. `zero_gamma=yes` (the default) starts the
// last batch normalization of each block at 0, so that blocks begin as identities
// (Goyal et al. 2017, section 5.1, arXiv:1706.02677); `no` starts it at 1.
#ifndef GRAPEVINE_MODEL_NETWORKS_RESNET50_H_
#define GRAPEVINE_MODEL_NETWORKS_RESNET50_H_

#include <cstdint>

#include "base/spec.h"
#include "model/network/network_builder.h"

namespace grapevine {

NetworkBuilder::Tensor DescribeResNet50(SpecReader& options, int64_t classes,
                                        NetworkBuilder& builder);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORKS_RESNET50_H_
