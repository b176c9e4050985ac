#include "model/problem/network_evaluation.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "kernels/vector/shared_vector.h"
#include "model/data/dataset_batches.h"

namespace grapevine {
namespace {

// Large enough for speed, small enough that activations stay below a training step's.
constexpr int64_t kBatch = 100;

// Training batches from which batch-norm statistics are measured anew.
constexpr int64_t kRecalibrationBatches = 50;

}  // namespace

absl::Status RecalibrateBatchNorm(Network& network, BatchSource& batches, int64_t first_round,
                                  int64_t count, float* replica, const BetweenBatches& between) {
  const ReplicaLayout& layout = network.layout();
  const int64_t buffers = layout.size - layout.parameter_size;
  if (buffers == 0) return absl::OkStatus();
  Batch batch;
  // Uninitialized, and touched in the buffer section alone.
  const SharedVector statistics = NewSharedVector(layout.size);
  std::vector<double> sum(buffers, 0.0);
  const HeldReplica held(network, replica);
  for (int64_t round = first_round; round < first_round + count; ++round) {
    RETURN_IF_ERROR(MayGoOn(between));
    RETURN_IF_ERROR(batches.Fill(round, &batch));
    RETURN_IF_ERROR(network.Statistics(replica, batch, statistics.data.get()));
    for (int64_t i = 0; i < buffers; ++i) sum[i] += statistics.data[layout.parameter_size + i];
  }
  for (int64_t i = 0; i < buffers; ++i) {
    replica[layout.parameter_size + i] = static_cast<float>(sum[i] / static_cast<double>(count));
  }
  return absl::OkStatus();
}

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
  RETURN_IF_ERROR(RecalibrateBatchNorm(*network_, *batches, 0, kRecalibrationBatches,
                                       model.data.get(), options_.between));
  absl::StatusOr<Evaluation> result = Evaluate(model);
  std::ranges::copy(averaged, buffers.begin());
  return result;
}

}  // namespace grapevine
