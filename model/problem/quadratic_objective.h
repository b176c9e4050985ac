// The noisy quadratic f_i(x) = (h / 2) |x - b_i|^2, on which decentralized
// algorithms have exact answers (stationary consensus distance, bias, stability
// limits): the oracle of their tests.
#ifndef GRAPEVINE_MODEL_PROBLEM_QUADRATIC_OBJECTIVE_H_
#define GRAPEVINE_MODEL_PROBLEM_QUADRATIC_OBJECTIVE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "model/problem/objective.h"

namespace grapevine {

struct QuadraticOptions {
  std::vector<float> optimum;  // b_i; its size is the dimension
  double curvature = 1;        // h
  double noise = 0;            // deviation of the gradient's noise per coordinate
  float start = 0;             // of every coordinate
  int64_t batch_size = 1;      // samples that a gradient counts as
  uint64_t seed = 0;
  int64_t node = 0;
};

// Thread-compatible. The noise is a function of (seed, node, round) alone.
class QuadraticObjective : public Objective {
 public:
  explicit QuadraticObjective(QuadraticOptions options);

  const ReplicaLayout& layout() const override { return layout_; }
  void Initialize(float* replica) override;
  // Never fails; the loss is f_i(replica), without noise.
  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override;
  int64_t batch_size() const override { return options_.batch_size; }

 private:
  const QuadraticOptions options_;
  ReplicaLayout layout_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_QUADRATIC_OBJECTIVE_H_
