// Evaluation of a network's weights on a whole data set: loss, accuracy, and recalibrated
// running statistics.
#ifndef GRAPEVINE_MODEL_PROBLEM_NETWORK_EVALUATION_H_
#define GRAPEVINE_MODEL_PROBLEM_NETWORK_EVALUATION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/data/batch.h"
#include "model/data/dataset.h"
#include "model/data/prefetched_batches.h"
#include "model/network/network.h"
#include "model/problem/problem.h"

namespace grapevine {

// The mean of the nodes' running statistics is not the statistic of the mean
// model. Recalibration replaces it by the cumulative average over training
// batches at the model's own weights (as in SWA, arXiv:1803.05407, section 3.2).
// Writes the buffers of `replica` from the batches of rounds [first_round,
// first_round + count), count > 0. A network without buffers costs nothing.
// Errors are the network's, the batches' and those of `between`; `replica` is then as before.
absl::Status RecalibrateBatchNorm(Network& network, BatchSource& batches, int64_t first_round,
                                  int64_t count, float* replica,
                                  const BetweenBatches& between = {});

// Sums over all samples of `data`, in inference mode; `prefetch` says how batches are
// filled. Errors are the network's, the data
// set's and those of `between`.
absl::StatusOr<EvaluationSums> EvaluateOn(std::shared_ptr<const Dataset> data, const float* replica,
                                          Network& network, const PrefetchOptions& prefetch,
                                          const BetweenBatches& between = {});

struct NetworkEvaluatorOptions {
  // For the training batches from which batch-norm statistics are measured anew.
  int64_t batch_size = 1;
  uint64_t seed = 0;
  PrefetchOptions prefetch;  // of all batches
  BetweenBatches between;
};

class NetworkEvaluator final : public Evaluator {
 public:
  NetworkEvaluator(std::unique_ptr<Network> network, TrainTest data,
                   NetworkEvaluatorOptions options)
      : network_(std::move(network)), data_(std::move(data)), options_(std::move(options)) {}

  absl::StatusOr<Evaluation> Evaluate(const SharedVector& model) override;
  absl::StatusOr<std::optional<Evaluation>> EvaluateRecalibrated(
      const SharedVector& model) override;

 private:
  const std::unique_ptr<Network> network_;
  const TrainTest data_;
  const NetworkEvaluatorOptions options_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_NETWORK_EVALUATION_H_
