// A network over a data set that is sharded over the nodes, and the objective over one node's
// batches.
//
// A model's loss is the mean over the test set, in nats; its accuracy a fraction.
#ifndef GRAPEVINE_MODEL_PROBLEM_NETWORK_PROBLEM_H_
#define GRAPEVINE_MODEL_PROBLEM_NETWORK_PROBLEM_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "model/data/batch.h"
#include "model/data/dataset.h"
#include "model/data/prefetched_batches.h"
#include "model/data/split.h"
#include "model/network/network.h"
#include "model/problem/objective.h"
#include "model/problem/problem.h"

namespace grapevine {

// Thread-compatible. The errors of Gradient are the network's and the batches'.
class NetworkObjective : public Objective {
 public:
  // `seed` is the run's: all nodes start equal. The network holds only scratch memory: the
  // objectives of one thread may share it. `shard` gives the node's samples once only `living` are
  // left; without it they stay.
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
  std::string network;  // spec
  TrainTest data;
  Shards shards;  // of the nodes
  int64_t batch_size = 1;
  double label_smoothing = 0;
  int64_t augmented_rounds = std::numeric_limits<int64_t>::max();  // as ShardOptions has them
  uint64_t seed = 0;
  // How batches are filled: those of a single node, and those of evaluators. Nodes
  // that share a thread fill theirs themselves.
  PrefetchOptions prefetch;
};

class NetworkProblem final : public Problem {
 public:
  // Errors are the network's, kUsage.
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

  // Whose replicas lie there.
  absl::StatusOr<std::unique_ptr<Network>> NewNetwork(const ComputeContext& context) const;

  const NetworkProblemOptions options_;
  std::unique_ptr<Network> network_;  // describes the model; never run
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_NETWORK_PROBLEM_H_
