// Loss and accuracy of a network's weights on a test set.
#ifndef GRAPEVINE_MODEL_PROBLEM_NETWORK_EVALUATOR_H_
#define GRAPEVINE_MODEL_PROBLEM_NETWORK_EVALUATOR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "model/data/dataset.h"
#include "model/data/prefetched_batches.h"
#include "model/network/network.h"
#include "model/problem/between_batches.h"
#include "model/problem/problem.h"

namespace grapevine {

struct NetworkEvaluatorOptions {
  // Of the training batches from which batch-norm statistics are measured anew.
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

#endif  // GRAPEVINE_MODEL_PROBLEM_NETWORK_EVALUATOR_H_
