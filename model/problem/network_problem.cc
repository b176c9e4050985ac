#include "model/problem/network_problem.h"

#include <utility>

#include "base/status_macros.h"
#include "kernels/tensor/gpu_tensor_device.h"
#include "model/data/dataset_batches.h"
#include "model/network/host_network.h"
#include "model/networks/network_kind.h"
#include "model/problem/network_evaluation.h"

namespace grapevine {

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
