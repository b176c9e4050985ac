// A model that is only bytes, for measuring networks: what takes its gradients'
// time is whoever asks for them (node/runner/gradient_worker.h, sim/engine/simulation.h).
#ifndef GRAPEVINE_MODEL_PROBLEM_PHANTOM_OBJECTIVE_H_
#define GRAPEVINE_MODEL_PROBLEM_PHANTOM_OBJECTIVE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "model/network/backward_cost.h"
#include "model/problem/objective.h"

namespace grapevine {

struct PhantomOptions {
  int64_t elements = 0;  // fp32 numbers of the replica
  int64_t batch_size = 32;
};

// Thread-compatible.
class PhantomObjective : public Objective {
 public:
  explicit PhantomObjective(const PhantomOptions& options);

  const ReplicaLayout& layout() const override { return layout_; }
  // Zeros.
  void Initialize(float* replica) override;
  // Leaves `gradient` as it is. Never fails; the loss is 0.
  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override;
  double ReadyAt(int64_t from) const override { return EvenlyReadyAt(from, layout_.size); }
  int64_t batch_size() const override { return options_.batch_size; }

 private:
  const PhantomOptions options_;
  ReplicaLayout layout_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_PHANTOM_OBJECTIVE_H_
