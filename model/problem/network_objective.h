// A network over a node's training batches.
#ifndef GRAPEVINE_MODEL_PROBLEM_NETWORK_OBJECTIVE_H_
#define GRAPEVINE_MODEL_PROBLEM_NETWORK_OBJECTIVE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "model/data/batch.h"
#include "model/network/network.h"
#include "model/problem/objective.h"

namespace grapevine {

// Thread-compatible. The errors of Gradient are the network's and the batches'.
class NetworkObjective : public Objective {
 public:
  // `seed` is the run's: all nodes start alike. The network holds nothing but
  // scratch memory: the objectives of one thread may share it.
  NetworkObjective(std::shared_ptr<Network> network, std::unique_ptr<BatchSource> batches,
                   uint64_t seed);

  const ReplicaLayout& layout() const override { return network_->layout(); }
  void Initialize(float* replica) override { network_->Initialize(seed_, replica); }
  absl::Status Prepare() override { return network_->PrepareGradient(batches_->batch_size()); }
  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override;
  absl::StatusOr<double> GradientInParts(const float* replica, int64_t round, float* gradient,
                                         const FinalFrom& final_from) override;
  double ReadyAt(int64_t from) const override { return network_->ReadyAt(from); }
  int64_t batch_size() const override { return batches_->batch_size(); }

 private:
  const std::shared_ptr<Network> network_;
  const std::unique_ptr<BatchSource> batches_;
  const uint64_t seed_;
  Batch batch_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_NETWORK_OBJECTIVE_H_
