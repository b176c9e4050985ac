#include "model/problem/network_problem.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "kernels/tensor/tensor_device.h"
#include "kernels/vector/shared_vector.h"
#include "model/data/dataset_batches.h"
#include "model/network/network.h"
#include "model/networks/network_kind.h"

namespace grapevine {

namespace {

// Samples in a batch of an evaluation: large enough for speed, and small enough that activations
// need less memory than those of a training step.
constexpr int64_t kBatch = 100;

// Number of training batches that recalibrate batch-norm statistics.
constexpr int64_t kRecalibrationBatches = 50;

}  // namespace

absl::Status RecalibrateBatchNorm(Network& network, BatchSource& batches, int64_t first_round,
                                  int64_t count, float* replica, const BetweenBatches& between) {
  const ReplicaLayout& layout = network.layout();
  const int64_t buffers = layout.size - layout.parameter_size;
  if (buffers == 0) return absl::OkStatus();
  Batch batch;
  // The vector is uninitialized, and only its buffer section is touched.
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
                                          const BetweenBatches& between, int64_t most) {
  auto source = std::make_unique<EvaluationBatches>(std::move(data), kBatch, most);
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
  return EvaluateOnSample(model, data_.test->size());
}

absl::StatusOr<Evaluation> NetworkEvaluator::EvaluateOnSample(const SharedVector& model,
                                                              int64_t most) {
  ASSIGN_OR_RETURN(const EvaluationSums result,
                   EvaluateOn(data_.test, model.data.get(), *network_, options_.prefetch,
                              options_.between, most));
  const double samples = static_cast<double>(result.samples);
  Evaluation evaluation{.loss = result.loss_sum / samples,
                        .accuracy = static_cast<double>(result.correct) / samples};
  if (result.samples < data_.test->size()) evaluation.samples = result.samples;
  return evaluation;
}

// Recalibration changes only the buffers, so that they are restored instead of copying the model.
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

NetworkObjective::NetworkObjective(std::shared_ptr<Network> network,
                                   std::unique_ptr<BatchSource> batches, uint64_t seed,
                                   ShardOf shard)
    : network_(std::move(network)),
      batches_(std::move(batches)),
      seed_(seed),
      shard_(std::move(shard)) {}

void NetworkObjective::DealAgain(int64_t from, std::span<const Rank> living) {
  if (shard_) batches_->DealAgain(from, shard_(living));
}

absl::StatusOr<double> NetworkObjective::Gradient(const float* replica, int64_t round,
                                                  float* gradient) {
  RETURN_IF_ERROR(batches_->Fill(round, &batch_));
  return network_->Gradient(replica, batch_, gradient);
}

absl::StatusOr<double> NetworkObjective::GradientInParts(const float* replica, int64_t round,
                                                         float* gradient,
                                                         const FinalFrom& final_from) {
  RETURN_IF_ERROR(batches_->Fill(round, &batch_));
  return network_->GradientInParts(replica, batch_, gradient, final_from);
}

absl::StatusOr<std::unique_ptr<NetworkProblem>> NetworkProblem::Make(
    NetworkProblemOptions options) {
  std::unique_ptr<NetworkProblem> problem(new NetworkProblem(std::move(options)));
  ASSIGN_OR_RETURN(problem->network_, problem->NewNetwork({}));
  return problem;
}

absl::StatusOr<std::unique_ptr<Network>> NetworkProblem::NewNetwork(
    const ComputeContext& context) const {
  std::unique_ptr<TensorDevice> device;
  if (context.device != nullptr) {
    ASSIGN_OR_RETURN(device, MakeGpuTensorDevice(*context.device, *context.stream,
                                                 context.precision, context.timeout));
  }
  const DatasetTraits& traits = options_.data.train->traits();
  return MakeNetwork(options_.network, traits.shape, traits.classes,
                     {.label_smoothing = static_cast<float>(options_.label_smoothing)},
                     std::move(device));
}

absl::StatusOr<std::vector<std::unique_ptr<Objective>>> NetworkProblem::MakeObjectives(
    int64_t first, int64_t last, const ComputeContext& context) const {
  ASSIGN_OR_RETURN(std::unique_ptr<Network> network, NewNetwork(context));
  const std::shared_ptr<Network> shared = std::move(network);
  PrefetchOptions prefetch = last - first == 1 ? options_.prefetch : PrefetchOptions();
  prefetch.memory = context.batches;
  std::vector<std::unique_ptr<Objective>> objectives;
  for (int64_t node = first; node < last; ++node) {
    auto batches =
        std::make_unique<ShardBatches>(options_.data.train, options_.shards[node],
                                       ShardOptions{.batch_size = options_.batch_size,
                                                    .seed = options_.seed,
                                                    .node = node,
                                                    .augmented_rounds = options_.augmented_rounds});
    objectives.push_back(std::make_unique<NetworkObjective>(
        shared, Prefetched(std::move(batches), prefetch), options_.seed,
        [this, node](std::span<const Rank> living) {
          return ShardAmong(living, static_cast<Rank>(node), options_.shards);
        }));
  }
  return objectives;
}

absl::StatusOr<std::unique_ptr<Evaluator>> NetworkProblem::MakeEvaluator(
    const ComputeContext& context, BetweenBatches between) const {
  ASSIGN_OR_RETURN(std::unique_ptr<Network> network, NewNetwork(context));
  if (context.device != nullptr) {
    ASSIGN_OR_RETURN(network, HostNetwork::Make(std::move(network), context));
  }
  PrefetchOptions prefetch = options_.prefetch;
  prefetch.memory = context.batches;
  return std::make_unique<NetworkEvaluator>(
      std::move(network), options_.data,
      NetworkEvaluatorOptions{.batch_size = options_.batch_size,
                              .seed = options_.seed,
                              .prefetch = prefetch,
                              .between = std::move(between)});
}

}  // namespace grapevine
