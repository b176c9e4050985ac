// What an experiment minimizes, min_x (1/n) sum_i F_i(x), the evaluation of models, and the
// registration of problems without data.
//
// Implementations: a network over a data set that is sharded over the nodes, noisy quadratics
// with a known optimum, and the phantom, which has a size but computes nothing.
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
#include "model/network/compute_context.h"
#include "model/problem/objective.h"

namespace grapevine {

// Asked before each batch of an evaluation whether to go on, because large ones take minutes.
// Called on the evaluating thread. Its error ends the evaluation and becomes its result. May be
// empty.
using BetweenBatches = std::function<absl::Status()>;

inline absl::Status MayGoOn(const BetweenBatches& between) {
  return between ? between() : absl::OkStatus();
}

struct Evaluation {
  std::optional<double> loss;  // its meaning is the problem's; none where that knows no data
  std::optional<double> accuracy;
  std::optional<int64_t> samples;  // that it looked at, where these are not all
};

// Evaluates models. Thread-compatible: it has scratch memory.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // `model` has the elements of the problem's layout.
  virtual absl::StatusOr<Evaluation> Evaluate(const SharedVector& model) = 0;
  // On `most` test samples, always the same, where there are more.
  virtual absl::StatusOr<Evaluation> EvaluateOnSample(const SharedVector& model, int64_t most) {
    return Evaluate(model);
  }
  // The same with recalibrated batch-norm statistics; absent if the model has none. They are
  // written into `model` temporarily, and restored.
  virtual absl::StatusOr<std::optional<Evaluation>> EvaluateRecalibrated(const SharedVector&) {
    return std::nullopt;
  }
};

// Immutable; safe from any thread. It outlives what it makes, which is otherwise independent.
class Problem {
 public:
  virtual ~Problem() = default;

  virtual const ReplicaLayout& layout() const = 0;
  // Writes the initial replica, the same on all nodes.
  virtual void Initialize(float* replica) const = 0;

  // F_first to F_(last - 1), for one thread: they may share scratch memory. Replicas and
  // gradients are memory of the context.
  virtual absl::StatusOr<std::vector<std::unique_ptr<Objective>>> MakeObjectives(
      int64_t first, int64_t last, const ComputeContext& context) const = 0;

  // Null if models mean nothing, and gradients only take time. Computes in `context`; models are
  // in host memory all the same.
  virtual absl::StatusOr<std::unique_ptr<Evaluator>> MakeEvaluator(
      const ComputeContext& context, BetweenBatches between) const = 0;
  virtual bool learns() const { return true; }

  // Its data; null if there are none.
  virtual const TrainTest* data() const { return nullptr; }
};

// What a run knows about its problem besides the spec.
struct ProblemRequest {
  int64_t nodes = 1;  // F_0 to F_(nodes - 1)
  int64_t batch_size = 1;
  uint64_t seed = 1;
};

// The registration of a problem without a data set: its notation and factory. All other models
// are networks (model/networks/network_kind.h). Register your own, an objective with its
// gradient, as quadratic_problem.cc does: docs/extending.md. Immutable once registered; the
// functions are pure, safe from any thread.
struct ProblemKind {
  std::string name;     // "quadratic"
  std::string options;  // "[:dim=100]"
  std::string help;     // one line
  // The specs that the contract suite runs (tests/model/problem_contract_test.cc).
  std::vector<std::string> examples;
  // Whether models mean something; otherwise gradients only take time.
  bool learns = true;
  std::function<absl::StatusOr<std::unique_ptr<Problem>>(const Spec&, const ProblemRequest&)> make;
};

// All problems without data of this program.
Registry<ProblemKind>& Problems();

// The model of a program that computes its gradients itself (outside_problem.h): no data here.
inline constexpr char kOutsideModel[] = "outside";
// The --rounds where such a program says when the run ends: no run has as many.
inline constexpr int64_t kOpenEndedRounds = int64_t{1} << 32;

// What the name of a model says before the model is made. A name that is not a problem's is a
// network's: it learns, from data.
bool SeesData(std::string_view model);
bool Learns(std::string_view model);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_PROBLEM_H_
