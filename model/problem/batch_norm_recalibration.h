// Running statistics of an averaged model, measured anew.
//
// The mean of the nodes' running statistics is not the statistic of the mean
// model. Recalibration replaces it by the cumulative average over training
// batches at the model's own weights (as in SWA, arXiv:1803.05407, section 3.2).
#ifndef GRAPEVINE_MODEL_PROBLEM_BATCH_NORM_RECALIBRATION_H_
#define GRAPEVINE_MODEL_PROBLEM_BATCH_NORM_RECALIBRATION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "model/data/batch.h"
#include "model/network/network.h"
#include "model/problem/between_batches.h"

namespace grapevine {

// Writes the buffers of `replica` from the batches of rounds [first_round,
// first_round + count), count > 0. A network without buffers costs nothing.
// Errors are the network's, the batches' and those of `between`; `replica` is then as before.
absl::Status RecalibrateBatchNorm(Network& network, BatchSource& batches, int64_t first_round,
                                  int64_t count, float* replica,
                                  const BetweenBatches& between = {});

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_BATCH_NORM_RECALIBRATION_H_
