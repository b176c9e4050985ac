// A network over a data set that is sharded over the nodes, the objective over one node's batches,
// and the evaluation of weights on a whole data set.
//
// A model's loss is the mean over the test set, in nats, and its accuracy is a fraction.
#ifndef GRAPEVINE_MODEL_PROBLEM_NETWORK_PROBLEM_H_
#define GRAPEVINE_MODEL_PROBLEM_NETWORK_PROBLEM_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "model/data/batch.h"
#include "model/data/dataset.h"
#include "model/data/dataset_batches.h"
#include "model/data/split.h"
#include "model/network/network.h"
#include "model/problem/objective.h"
#include "model/problem/problem.h"

namespace grapevine {

// Recalibrates the batch-norm statistics of an averaged model. The mean of the nodes' running
// statistics is not the statistic of the mean model. Recalibration replaces it by the cumulative
// average over training batches at the model's own weights (as in SWA, arXiv:1803.05407,
// section 3.2).
//
// Writes the buffers of `replica` from the batches of rounds [first_round, first_round + count),
// count > 0. Does nothing for a network without buffers. Errors are the network's, the batches' and
// those of `between`; they leave `replica` as it was.
absl::Status RecalibrateBatchNorm(Network& network, BatchSource& batches, int64_t first_round,
                                  int64_t count, float* replica,
                                  const BetweenBatches& between = {});

// Evaluates `replica` in inference mode and returns sums over the samples of `data`, or over `most`
// of them. `prefetch` determines how batches are filled. Errors are the network's, the data set's
// and those of `between`.
absl::StatusOr<EvaluationSums> EvaluateOn(std::shared_ptr<const Dataset> data, const float* replica,
                                          Network& network, const PrefetchOptions& prefetch,
                                          const BetweenBatches& between = {},
                                          int64_t most = std::numeric_limits<int64_t>::max());

struct NetworkEvaluatorOptions {
  // Size and seed of the training batches that recalibrate batch-norm statistics.
  int64_t batch_size = 1;
  uint64_t seed = 0;
  PrefetchOptions prefetch;  // for all batches
  BetweenBatches between;
};

class NetworkEvaluator final : public Evaluator {
 public:
  NetworkEvaluator(std::unique_ptr<Network> network, TrainTest data,
                   NetworkEvaluatorOptions options)
      : network_(std::move(network)), data_(std::move(data)), options_(std::move(options)) {}

  absl::StatusOr<Evaluation> Evaluate(const SharedVector& model) override;
  absl::StatusOr<Evaluation> EvaluateOnSample(const SharedVector& model, int64_t most) override;
  absl::StatusOr<std::optional<Evaluation>> EvaluateRecalibrated(
      const SharedVector& model) override;

 private:
  const std::unique_ptr<Network> network_;
  const TrainTest data_;
  const NetworkEvaluatorOptions options_;
};

// The objective of one node with a network. The errors of Gradient are the network's and the
// batches'. Thread-compatible.
class NetworkObjective : public Objective {
 public:
  // `seed` is the run's, so that all nodes start equal. The network holds only scratch memory, so
  // that the objectives of one thread may share it. `shard` returns the node's samples once only
  // the nodes `living` are left; if it is null, the node keeps its samples.
  using ShardOf = std::function<std::vector<int32_t>(std::span<const Rank> living)>;
  NetworkObjective(std::shared_ptr<Network> network, std::unique_ptr<BatchSource> batches,
                   uint64_t seed, ShardOf shard = nullptr);

  const ReplicaLayout& layout() const override { return network_->layout(); }
  void Initialize(float* replica) override { network_->Initialize(seed_, replica); }
  absl::Status Prepare() override { return network_->PrepareGradient(batches_->batch_size()); }
  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override;
  absl::StatusOr<double> GradientInParts(const float* replica, int64_t round, float* gradient,
                                         const FinalFrom& final_from) override;
  double ReadyAt(int64_t from, int64_t round) const override { return network_->ReadyAt(from); }
  int64_t batch_size() const override { return batches_->batch_size(); }
  void DealAgain(int64_t from, std::span<const Rank> living) override;

 private:
  const std::shared_ptr<Network> network_;
  const std::unique_ptr<BatchSource> batches_;
  const uint64_t seed_;
  const ShardOf shard_;
  Batch batch_;
};

struct NetworkProblemOptions {
  std::string network;  // spec of the network
  TrainTest data;
  Shards shards;  // one per node
  int64_t batch_size = 1;
  double label_smoothing = 0;
  int64_t augmented_rounds = std::numeric_limits<int64_t>::max();  // see ShardOptions
  uint64_t seed = 0;
  // How the batches of a single node and of evaluators are filled. Nodes that share a thread fill
  // their batches themselves.
  PrefetchOptions prefetch;
};

class NetworkProblem final : public Problem {
 public:
  // Makes a problem. Errors are those of the network's spec, with Failure::kUsage.
  static absl::StatusOr<std::unique_ptr<NetworkProblem>> Make(NetworkProblemOptions options);

  const ReplicaLayout& layout() const override { return network_->layout(); }
  void Initialize(float* replica) const override { network_->Initialize(options_.seed, replica); }
  absl::StatusOr<std::vector<std::unique_ptr<Objective>>> MakeObjectives(
      int64_t first, int64_t last, const ComputeContext& context) const override;
  absl::StatusOr<std::unique_ptr<Evaluator>> MakeEvaluator(const ComputeContext& context,
                                                           BetweenBatches between) const override;
  const TrainTest* data() const override { return &options_.data; }

 private:
  explicit NetworkProblem(NetworkProblemOptions options) : options_(std::move(options)) {}

  // Makes a network whose replicas are in memory of `context`.
  absl::StatusOr<std::unique_ptr<Network>> NewNetwork(const ComputeContext& context) const;

  const NetworkProblemOptions options_;
  std::unique_ptr<Network> network_;  // describes the model; never run
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_NETWORK_PROBLEM_H_
