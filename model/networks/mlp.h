// Three linear layers with ReLU, `width` (256) and half as wide.
#ifndef GRAPEVINE_MODEL_NETWORKS_MLP_H_
#define GRAPEVINE_MODEL_NETWORKS_MLP_H_

#include <cstdint>

#include "base/spec.h"
#include "model/network/network_builder.h"

namespace grapevine {

NetworkBuilder::Tensor DescribeMlp(SpecReader& options, int64_t classes, NetworkBuilder& builder);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORKS_MLP_H_
