// A network over a data set that is divided over the nodes.
//
// A model's loss is the mean over the test set, in nats; its accuracy a fraction.
#ifndef GRAPEVINE_MODEL_PROBLEM_NETWORK_PROBLEM_H_
#define GRAPEVINE_MODEL_PROBLEM_NETWORK_PROBLEM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/dataset.h"
#include "model/data/prefetched_batches.h"
#include "model/data/split.h"
#include "model/network/network.h"
#include "model/problem/problem.h"

namespace grapevine {

struct NetworkProblemOptions {
  std::string network;  // spec
  TrainTest data;
  Shards shards;  // of the nodes
  int64_t batch_size = 1;
  double label_smoothing = 0;
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
      int64_t first, int64_t last, const ComputePlace& place) const override;
  absl::StatusOr<std::unique_ptr<Evaluator>> MakeEvaluator(const ComputePlace& place,
                                                           BetweenBatches between) const override;
  const TrainTest* data() const override { return &options_.data; }

 private:
  explicit NetworkProblem(NetworkProblemOptions options) : options_(std::move(options)) {}

  // Whose replicas lie there.
  absl::StatusOr<std::unique_ptr<Network>> NewNetwork(const ComputePlace& place) const;

  const NetworkProblemOptions options_;
  std::unique_ptr<Network> network_;  // describes the model; never run
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_NETWORK_PROBLEM_H_
