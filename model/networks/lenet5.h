// LeNet-5 (LeCun et al. 1998) with ReLU and max pooling, as it is used today.
#ifndef GRAPEVINE_MODEL_NETWORKS_LENET5_H_
#define GRAPEVINE_MODEL_NETWORKS_LENET5_H_

#include <cstdint>

#include "base/spec.h"
#include "model/network/network_builder.h"

namespace grapevine {

NetworkBuilder::Tensor DescribeLeNet5(SpecReader& options, int64_t classes,
                                      NetworkBuilder& builder);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORKS_LENET5_H_
