// What an experiment minimizes, min_x (1/n) sum_i F_i(x), and how good a model is.
//
// Implementations: a network over a data set that is divided over the nodes, noisy
// quadratics with a known optimum, and the phantom, which has a size and no meaning.
#ifndef GRAPEVINE_MODEL_PROBLEM_PROBLEM_H_
#define GRAPEVINE_MODEL_PROBLEM_PROBLEM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/vector/aligned_buffer.h"
#include "kernels/vector/replica_layout.h"
#include "model/data/dataset.h"
#include "model/network/compute_place.h"
#include "model/problem/between_batches.h"
#include "model/problem/objective.h"

namespace grapevine {

struct Evaluation {
  double loss = 0;  // its meaning is the problem's
  std::optional<double> accuracy;
};

// Judges models. Thread-compatible: it has scratch memory.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // `model` has the elements of the problem's layout.
  virtual absl::StatusOr<Evaluation> Evaluate(const SharedVector& model) = 0;
  // The same with batch-norm statistics that are measured anew; absent where the
  // model has none. They are written into `model` meanwhile, and put back.
  virtual absl::StatusOr<std::optional<Evaluation>> EvaluateRecalibrated(const SharedVector&) {
    return std::nullopt;
  }
};

// Immutable; safe from any thread. What it makes is independent and outlived by it.
class Problem {
 public:
  virtual ~Problem() = default;

  virtual const ReplicaLayout& layout() const = 0;
  // Writes the starting replica, the same on all nodes.
  virtual void Initialize(float* replica) const = 0;

  // F_first to F_(last - 1), for one thread: they may share scratch memory. Replicas and
  // gradients are memory of the place.
  virtual absl::StatusOr<std::vector<std::unique_ptr<Objective>>> MakeObjectives(
      int64_t first, int64_t last, const ComputePlace& place) const = 0;

  // Null where models mean nothing, and gradients are nothing but time. Computes there;
  // models are in host memory all the same.
  virtual absl::StatusOr<std::unique_ptr<Evaluator>> MakeEvaluator(
      const ComputePlace& place, BetweenBatches between) const = 0;
  virtual bool learns() const { return true; }

  // The data behind it; null where there are none.
  virtual const TrainTest* data() const { return nullptr; }
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_PROBLEM_H_
