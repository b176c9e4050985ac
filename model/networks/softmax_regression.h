// Multinomial logistic regression: one linear layer. Convex.
#ifndef GRAPEVINE_MODEL_NETWORKS_SOFTMAX_REGRESSION_H_
#define GRAPEVINE_MODEL_NETWORKS_SOFTMAX_REGRESSION_H_

#include <cstdint>

#include "base/spec.h"
#include "model/network/network_builder.h"

namespace grapevine {

NetworkBuilder::Tensor DescribeSoftmaxRegression(SpecReader& options, int64_t classes,
                                                 NetworkBuilder& builder);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORKS_SOFTMAX_REGRESSION_H_
