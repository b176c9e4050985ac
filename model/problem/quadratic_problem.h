// Noisy quadratics with a known optimum: F_i(x) = (h / 2) |x - b_i|^2.
//
// The mean of the F_i is smallest at the mean of the b_i. A model's loss is its excess over that
// minimum, (h / 2) |x - mean b|^2. For these problems the behaviour of decentralized algorithms is
// known exactly (stationary consensus distance, transient phase, bias, stability limits), and they
// are fast even for thousands of nodes. They are the oracle of the algorithms' tests.
#ifndef GRAPEVINE_MODEL_PROBLEM_QUADRATIC_PROBLEM_H_
#define GRAPEVINE_MODEL_PROBLEM_QUADRATIC_PROBLEM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/spec.h"
#include "model/problem/objective.h"
#include "model/problem/problem.h"

namespace grapevine {

struct QuadraticOptions {
  std::vector<float> optimum;  // b_i; its size is the dimension
  double curvature = 1;        // h
  double noise = 0;            // deviation of the gradient's noise per coordinate
  float start = 0;             // initial value of every coordinate
  int64_t batch_size = 1;      // number of samples that a gradient counts as
  uint64_t seed = 0;
  int64_t node = 0;
};

// F_i of one node. The noise is a function of (seed, node, round) alone. Thread-compatible.
class QuadraticObjective : public Objective {
 public:
  explicit QuadraticObjective(QuadraticOptions options);

  const ReplicaLayout& layout() const override { return layout_; }
  void Initialize(float* replica) override;
  // Never fails. The loss is F_i(replica), without noise.
  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override;
  int64_t batch_size() const override { return options_.batch_size; }

 private:
  const QuadraticOptions options_;
  ReplicaLayout layout_;
};

struct QuadraticProblemOptions {
  int64_t dimension = 100;
  double curvature = 1;  // h
  double noise = 1;      // deviation of every coordinate of a gradient
  double spread = 0;     // deviation of every coordinate of the b_i; 0 corresponds to iid data
  double start = 1;      // initial value of every coordinate
  int64_t nodes = 1;
  int64_t batch_size = 1;  // number of samples that a gradient counts as
  uint64_t seed = 0;
};

// Reads "quadratic:dim=100:curvature=1:noise=1:spread=0:start=1". Errors are kUsage.
absl::StatusOr<QuadraticProblemOptions> ParseQuadratic(const Spec& spec);

class QuadraticProblem final : public Problem {
 public:
  explicit QuadraticProblem(const QuadraticProblemOptions& options);

  const ReplicaLayout& layout() const override { return layout_; }
  void Initialize(float* replica) const override;
  absl::StatusOr<std::vector<std::unique_ptr<Objective>>> MakeObjectives(
      int64_t first, int64_t last, const ComputeContext& context) const override;
  absl::StatusOr<std::unique_ptr<Evaluator>> MakeEvaluator(const ComputeContext&,
                                                           BetweenBatches) const override;

 private:
  // Returns b_i, drawn from (seed, node).
  std::vector<float> OptimumOf(int64_t node) const;

  const QuadraticProblemOptions options_;
  ReplicaLayout layout_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_QUADRATIC_PROBLEM_H_
