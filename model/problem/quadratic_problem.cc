#include "model/problem/quadratic_problem.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "model/problem/objective_wrappers.h"
#include "model/problem/problem.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr double kMaxValue = 1e6;

class DistanceToOptimum final : public Evaluator {
 public:
  DistanceToOptimum(double curvature, std::vector<double> optimum)
      : curvature_(curvature), optimum_(std::move(optimum)) {}

  absl::StatusOr<Evaluation> Evaluate(const SharedVector& model) override {
    double squares = 0;
    for (size_t i = 0; i < optimum_.size(); ++i) {
      const double distance = static_cast<double>(model.data[i]) - optimum_[i];
      squares += distance * distance;
    }
    return Evaluation{.loss = curvature_ / 2 * squares, .accuracy = std::nullopt};
  }

 private:
  const double curvature_;
  const std::vector<double> optimum_;
};

absl::StatusOr<std::unique_ptr<Problem>> MakeQuadratic(const Spec& spec,
                                                       const ProblemRequest& request) {
  ASSIGN_OR_RETURN(QuadraticProblemOptions options, ParseQuadratic(spec));
  options.nodes = request.nodes;
  options.batch_size = request.batch_size;
  options.seed = request.seed;
  return std::make_unique<QuadraticProblem>(options);
}

const Registration kQuadratic(Problems(),
                              {.name = "quadratic",
                               .options = "[:dim=100][:curvature=C][:noise=S][:spread=S][:start=X]",
                               .help = "noisy, with a known optimum",
                               .examples = {"quadratic", "quadratic:dim=5:noise=0"},
                               .make = MakeQuadratic});

}  // namespace

QuadraticObjective::QuadraticObjective(QuadraticOptions options) : options_(std::move(options)) {
  layout_.AddParameter("x", {static_cast<int64_t>(options_.optimum.size())});
}

void QuadraticObjective::Initialize(float* replica) {
  std::fill_n(replica, layout_.size, options_.start);
}

absl::StatusOr<double> QuadraticObjective::Gradient(const float* replica, int64_t round,
                                                    float* gradient) {
  KeyedRandom random(options_.seed, Purpose::kGradientNoise, static_cast<uint64_t>(options_.node),
                     static_cast<uint64_t>(round));
  double squares = 0;
  for (int64_t i = 0; i < layout_.size; ++i) {
    const double distance = static_cast<double>(replica[i]) - options_.optimum[i];
    squares += distance * distance;
    const double noise = options_.noise == 0 ? 0 : options_.noise * random.Normal();
    gradient[i] = static_cast<float>(options_.curvature * distance + noise);
  }
  return options_.curvature / 2 * squares;
}

absl::StatusOr<QuadraticProblemOptions> ParseQuadratic(const Spec& spec) {
  SpecReader reader(spec);
  QuadraticProblemOptions options;
  options.dimension = reader.Integer("dim", options.dimension, 1, int64_t{1} << 28);
  options.curvature = reader.Real("curvature", options.curvature, 1e-6, kMaxValue);
  options.noise = reader.Real("noise", options.noise, 0, kMaxValue);
  options.spread = reader.Real("spread", options.spread, 0, kMaxValue);
  options.start = reader.Real("start", options.start, -kMaxValue, kMaxValue);
  RETURN_IF_ERROR(reader.Finish());
  return options;
}

QuadraticProblem::QuadraticProblem(const QuadraticProblemOptions& options) : options_(options) {
  layout_.AddParameter("x", {options_.dimension});
}

void QuadraticProblem::Initialize(float* replica) const {
  std::fill_n(replica, layout_.size, static_cast<float>(options_.start));
}

std::vector<float> QuadraticProblem::OptimumOf(int64_t node) const {
  std::vector<float> optimum(static_cast<size_t>(options_.dimension));
  if (options_.spread == 0) return optimum;
  KeyedRandom random(options_.seed, Purpose::kOptimum, static_cast<uint64_t>(node));
  for (float& coordinate : optimum) {
    coordinate = static_cast<float>(options_.spread * random.Normal());
  }
  return optimum;
}

absl::StatusOr<std::vector<std::unique_ptr<Objective>>> QuadraticProblem::MakeObjectives(
    int64_t first, int64_t last, const ComputeContext& context) const {
  std::vector<std::unique_ptr<Objective>> objectives;
  for (int64_t node = first; node < last; ++node) {
    auto objective = std::make_unique<QuadraticObjective>(
        QuadraticOptions{.optimum = OptimumOf(node),
                         .curvature = options_.curvature,
                         .noise = options_.noise,
                         .start = static_cast<float>(options_.start),
                         .batch_size = options_.batch_size,
                         .seed = options_.seed,
                         .node = node});
    if (context.device == nullptr) {
      objectives.push_back(std::move(objective));
      continue;
    }
    ASSIGN_OR_RETURN(std::unique_ptr<HostObjective> copied,
                     HostObjective::Make(std::move(objective), context));
    objectives.push_back(std::move(copied));
  }
  return objectives;
}

absl::StatusOr<std::unique_ptr<Evaluator>> QuadraticProblem::MakeEvaluator(const ComputeContext&,
                                                                           BetweenBatches) const {
  std::vector<double> mean(static_cast<size_t>(options_.dimension));
  const int64_t drawn = options_.spread == 0 ? 0 : options_.nodes;  // without spread, all are 0
  for (int64_t node = 0; node < drawn; ++node) {
    const std::vector<float> optimum = OptimumOf(node);
    for (size_t i = 0; i < mean.size(); ++i) {
      mean[i] += optimum[i] / static_cast<double>(options_.nodes);
    }
  }
  return std::make_unique<DistanceToOptimum>(options_.curvature, std::move(mean));
}

}  // namespace grapevine
