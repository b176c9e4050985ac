// What an experiment minimizes, min_x (1/n) sum_i F_i(x), how good a model is, and how a
// problem without data registers itself.
//
// Implementations: a network over a data set that is divided over the nodes, noisy
// quadratics with a known optimum, and the phantom, which has a size and no meaning.
#ifndef GRAPEVINE_MODEL_PROBLEM_PROBLEM_H_
#define GRAPEVINE_MODEL_PROBLEM_PROBLEM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/registry.h"
#include "base/spec.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/shared_vector.h"
#include "model/data/dataset.h"
#include "model/network/compute_place.h"
#include "model/problem/objective.h"

namespace grapevine {

// Whether to go on, asked between the batches of an evaluation: large ones take minutes.
// Called on the thread that evaluates, before each batch. Its error ends the evaluation
// and is that of it. May be empty.
using BetweenBatches = std::function<absl::Status()>;

inline absl::Status MayGoOn(const BetweenBatches& between) {
  return between ? between() : absl::OkStatus();
}

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

// What a run knows of its problem beside the spec.
struct ProblemRequest {
  int64_t nodes = 1;  // F_0 to F_(nodes - 1)
  int64_t batch_size = 1;
  uint64_t seed = 1;
};

// A problem that needs no data set: how it is written, and how it is made. All other models
// are networks (model/networks/network_registry.h). One of your own, an objective with its
// gradient, registers like quadratic_problem.cc: docs/extending.md. Immutable once registered;
// the functions are pure, safe from any thread.
struct ProblemKind {
  std::string name;     // "quadratic"
  std::string options;  // "[:dim=100]"
  std::string help;     // one line
  // Whether models mean something: else gradients are nothing but time.
  bool learns = true;
  std::function<absl::StatusOr<std::unique_ptr<Problem>>(const Spec&, const ProblemRequest&)> make;
};

// All problems without data of this program.
Registry<ProblemKind>& Problems();

// What the name of a model says before the model is made. A name that is no problem's is a
// network's: it learns, from data.
bool SeesData(std::string_view model);
bool Learns(std::string_view model);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_PROBLEM_H_
