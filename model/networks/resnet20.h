// ResNet-20 for CIFAR (He et al. 2016, section 4.2), with option A's shortcuts.
#ifndef GRAPEVINE_MODEL_NETWORKS_RESNET20_H_
#define GRAPEVINE_MODEL_NETWORKS_RESNET20_H_

#include <cstdint>

#include "base/spec.h"
#include "model/network/network_builder.h"

namespace grapevine {

NetworkBuilder::Tensor DescribeResNet20(SpecReader& options, int64_t classes,
                                        NetworkBuilder& builder);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORKS_RESNET20_H_
