#include "model/problem/network_evaluator.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "base/status_macros.h"
#include "model/data/shard_batches.h"
#include "model/problem/batch_norm_recalibration.h"
#include "model/problem/dataset_evaluation.h"

namespace grapevine {
namespace {

// Training batches from which batch-norm statistics are measured anew.
constexpr int64_t kRecalibrationBatches = 50;

}  // namespace

absl::StatusOr<Evaluation> NetworkEvaluator::Evaluate(const SharedVector& model) {
  ASSIGN_OR_RETURN(const EvaluationSums result, EvaluateOn(data_.test, model.data.get(), *network_,
                                                           options_.prefetch, options_.between));
  const double samples = static_cast<double>(result.samples);
  return Evaluation{.loss = result.loss_sum / samples,
                    .accuracy = static_cast<double>(result.correct) / samples};
}

// Only the buffers differ: they are put back, and no second model is held.
absl::StatusOr<std::optional<Evaluation>> NetworkEvaluator::EvaluateRecalibrated(
    const SharedVector& model) {
  const ReplicaLayout& layout = network_->layout();
  if (layout.buffers.empty()) return std::nullopt;
  std::vector<int32_t> all(data_.train->size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
  PrefetchOptions prefetch = options_.prefetch;
  prefetch.rounds = kRecalibrationBatches;
  const std::unique_ptr<BatchSource> batches =
      Prefetched(std::make_unique<ShardBatches>(
                     data_.train, std::move(all),
                     ShardOptions{.batch_size = options_.batch_size, .seed = options_.seed}),
                 prefetch);
  const std::span<float> buffers = model.span().subspan(layout.parameter_size);
  const std::vector<float> averaged(buffers.begin(), buffers.end());
  absl::Status status = RecalibrateBatchNorm(*network_, *batches, 0, kRecalibrationBatches,
                                             model.data.get(), options_.between);
  RETURN_IF_ERROR(status);
  absl::StatusOr<Evaluation> result = Evaluate(model);
  std::ranges::copy(averaged, buffers.begin());
  if (!result.ok()) return result.status();
  return *result;
}

}  // namespace grapevine
