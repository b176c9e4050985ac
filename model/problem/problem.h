// The problem that an experiment minimizes, min_x (1/n) sum_i F_i(x), the evaluation of models, and
// the registration of problems without data.
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

// Called before each batch of an evaluation, because large evaluations take minutes, to ask whether
// to go on. The call is made on the evaluating thread. An error ends the evaluation and becomes its
// result. The function may be empty.
using BetweenBatches = std::function<absl::Status()>;

inline absl::Status MayGoOn(const BetweenBatches& between) {
  return between ? between() : absl::OkStatus();
}

struct Evaluation {
  std::optional<double> loss;  // as the problem defines it; absent if the problem does not know it
  std::optional<double> accuracy;
  std::optional<int64_t> samples;  // number of samples evaluated; absent if all were
};

// Evaluates models. Thread-compatible: it has scratch memory.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  // Evaluates `model`, which has the elements of the problem's layout.
  virtual absl::StatusOr<Evaluation> Evaluate(const SharedVector& model) = 0;
  // Evaluates `model` on `most` test samples, always the same ones, if the test set has more.
  virtual absl::StatusOr<Evaluation> EvaluateOnSample(const SharedVector& model, int64_t most) {
    return Evaluate(model);
  }
  // Evaluates `model` with recalibrated batch-norm statistics. Returns nothing if the model has
  // none. The statistics are written into `model` temporarily; then the old ones are restored.
  virtual absl::StatusOr<std::optional<Evaluation>> EvaluateRecalibrated(const SharedVector&) {
    return std::nullopt;
  }
};

// A problem to minimize. It must outlive the objectives and evaluators that it makes, which are
// otherwise independent. Immutable; safe from any thread.
class Problem {
 public:
  virtual ~Problem() = default;

  virtual const ReplicaLayout& layout() const = 0;
  // Writes the initial replica, which is the same on all nodes.
  virtual void Initialize(float* replica) const = 0;

  // Makes F_first to F_(last - 1), for use by one thread: they may share scratch memory. Replicas
  // and gradients are in memory of `context`.
  virtual absl::StatusOr<std::vector<std::unique_ptr<Objective>>> MakeObjectives(
      int64_t first, int64_t last, const ComputeContext& context) const = 0;

  // Makes an evaluator that computes in `context`; models are in host memory nevertheless. Returns
  // null if the problem does not learn.
  virtual absl::StatusOr<std::unique_ptr<Evaluator>> MakeEvaluator(
      const ComputeContext& context, BetweenBatches between) const = 0;
  // Whether models mean something; otherwise gradients only take time.
  virtual bool learns() const { return true; }

  // The problem's data, or null if it has none.
  virtual const TrainTest* data() const { return nullptr; }
};

// The properties of a problem that the run determines, not its spec.
struct ProblemRequest {
  int64_t nodes = 1;  // the problem has F_0 to F_(nodes - 1)
  int64_t batch_size = 1;
  uint64_t seed = 1;
};

// The registration of a problem without a data set: its notation and factory. All other models
// are networks (model/networks/network_kind.h). To register a problem of your own, an objective
// with its gradient, follow quadratic_problem.cc and docs/extending.md. Immutable once registered;
// the functions are pure, safe from any thread.
struct ProblemKind {
  std::string name;     // "quadratic"
  std::string options;  // "[:dim=100]"
  std::string help;     // one line
  // Specs for the contract suite (tests/model/problem_contract_test.cc).
  std::vector<std::string> examples;
  // Whether models mean something; otherwise gradients only take time.
  bool learns = true;
  std::function<absl::StatusOr<std::unique_ptr<Problem>>(const Spec&, const ProblemRequest&)> make;
};

// The registry of all problems without data of this program.
Registry<ProblemKind>& Problems();

// The name of a model whose gradients another program computes (outside_problem.h). It has no data
// here.
inline constexpr char kOutsideModel[] = "outside";
// The value of --rounds if the program that computes the gradients decides when the run ends. No
// run has this many rounds.
inline constexpr int64_t kOpenEndedRounds = int64_t{1} << 32;

// Tell from a model's spec, before the model is made, whether it uses data and whether it learns. A
// name that is not a problem's is a network's: it learns from data.
bool SeesData(std::string_view model);
bool Learns(std::string_view model);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_PROBLEM_PROBLEM_H_
