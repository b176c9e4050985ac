// A model without content, for measuring communication: it has only bytes to send and time to wait
// for. Callers of its gradients spend that time (node/runner/node_gradients.h,
// sim/engine/simulation.h).
#ifndef GRAPEVINE_MODEL_PROBLEM_PHANTOM_PROBLEM_H_
#define GRAPEVINE_MODEL_PROBLEM_PHANTOM_PROBLEM_H_

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "model/network/backward_cost.h"
#include "model/problem/objective.h"
#include "model/problem/problem.h"

namespace grapevine {

struct PhantomOptions {
  int64_t elements = 0;  // fp32 numbers of the replica
  int64_t batch_size = 32;
};

// The objective of one node. Thread-compatible.
class PhantomObjective : public Objective {
 public:
  explicit PhantomObjective(const PhantomOptions& options);

  const ReplicaLayout& layout() const override { return layout_; }
  // Writes zeros.
  void Initialize(float* replica) override;
  // Writes zeros into `gradient` the first time that this memory is passed in, because its elements
  // may be anything; does not touch it afterwards. Never fails; the loss is 0.
  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override;
  double ReadyAt(int64_t from, int64_t round) const override {
    return EvenlyReadyAt(from, layout_.size);
  }
  int64_t batch_size() const override { return options_.batch_size; }

 private:
  const PhantomOptions options_;
  ReplicaLayout layout_;
  std::set<const float*> seen_;
};

class PhantomProblem final : public Problem {
 public:
  explicit PhantomProblem(const PhantomOptions& options)
      : options_(options), layout_(PhantomObjective(options).layout()) {}

  const ReplicaLayout& layout() const override { return layout_; }
  // Writes zeros.
  void Initialize(float* replica) const override;
  absl::StatusOr<std::vector<std::unique_ptr<Objective>>> MakeObjectives(
      int64_t first, int64_t last, const ComputeContext& context) const override;
  absl::StatusOr<std::unique_ptr<Evaluator>> MakeEvaluator(const ComputeContext&,
                                                           BetweenBatches) const override {
    return nullptr;
  }
  bool learns() const override { return false; }

 private:
  const PhantomOptions options_;
  const ReplicaLayout layout_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_PHANTOM_PROBLEM_H_
