#include "model/problem/dataset_evaluation.h"

#include <utility>

#include "base/status_macros.h"
#include "model/data/evaluation_batches.h"

namespace grapevine {
namespace {

// Large enough for speed, small enough that activations stay below a training step's.
constexpr int64_t kBatch = 100;

}  // namespace

absl::StatusOr<EvaluationSums> EvaluateOn(std::shared_ptr<const Dataset> data, const float* replica,
                                          Network& network, const PrefetchOptions& prefetch,
                                          const BetweenBatches& between) {
  auto source = std::make_unique<EvaluationBatches>(std::move(data), kBatch);
  PrefetchOptions options = prefetch;
  options.rounds = source->count();
  const std::unique_ptr<BatchSource> batches = Prefetched(std::move(source), options);
  const HeldReplica held(network, replica);
  EvaluationSums total;
  Batch batch;
  for (int64_t i = 0; i < options.rounds; ++i) {
    RETURN_IF_ERROR(MayGoOn(between));
    RETURN_IF_ERROR(batches->Fill(i, &batch));
    ASSIGN_OR_RETURN(EvaluationSums part, network.Evaluate(replica, batch));
    total.loss_sum += part.loss_sum;
    total.correct += part.correct;
    total.samples += part.samples;
  }
  return total;
}

}  // namespace grapevine
