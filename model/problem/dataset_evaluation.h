// A model on a whole data set.
#ifndef GRAPEVINE_MODEL_PROBLEM_DATASET_EVALUATION_H_
#define GRAPEVINE_MODEL_PROBLEM_DATASET_EVALUATION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "model/data/dataset.h"
#include "model/data/prefetched_batches.h"
#include "model/network/network.h"
#include "model/problem/between_batches.h"

namespace grapevine {

// Sums over all samples of `data`, in inference mode; `prefetch` says how batches are
// filled. Errors are the network's, the data
// set's and those of `between`.
absl::StatusOr<EvaluationSums> EvaluateOn(std::shared_ptr<const Dataset> data, const float* replica,
                                          Network& network, const PrefetchOptions& prefetch,
                                          const BetweenBatches& between = {});

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_DATASET_EVALUATION_H_
