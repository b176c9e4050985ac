// An objective of your own: a double well in every coordinate, which each node sees tilted
// its own way.
//
//   --model=double-well:dim=10:tilt=0.1
//
//   F_i(x) = sum_j (x_j^2 - 1)^2 / 4 + t_i x_j,   t_i = tilt on even nodes, -tilt on odd ones
//
// Not convex, and without noise. docs/extending.md walks through it.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/spec.h"
#include "base/status.h"
#include "model/problem/objective.h"
#include "model/problem/objective_wrappers.h"
#include "model/problem/problem.h"

namespace {

using grapevine::Objective;
using grapevine::Problem;
using grapevine::ReplicaLayout;

struct Options {
  int64_t dimension = 10;
  double tilt = 0.1;
  int64_t batch_size = 1;
};

// All nodes start here, nearer to one well than to the other.
constexpr float kStart = 0.1f;

ReplicaLayout LayoutOf(const Options& options) {
  ReplicaLayout layout;
  layout.AddParameter("x", {options.dimension});
  return layout;
}

double Depth(double x) { return (x * x - 1) * (x * x - 1) / 4; }

class TiltedWells final : public Objective {
 public:
  TiltedWells(const Options& options, double tilt)
      : layout_(LayoutOf(options)), tilt_(tilt), batch_size_(options.batch_size) {}

  const ReplicaLayout& layout() const override { return layout_; }
  void Initialize(float* replica) override { std::fill_n(replica, layout_.size, kStart); }
  int64_t batch_size() const override { return batch_size_; }

  absl::StatusOr<double> Gradient(const float* replica, int64_t, float* gradient) override {
    double loss = 0;
    for (int64_t i = 0; i < layout_.size; ++i) {
      const double x = replica[i];
      loss += Depth(x) + tilt_ * x;
      gradient[i] = static_cast<float>(x * (x * x - 1) + tilt_);
    }
    return loss;
  }

 private:
  const ReplicaLayout layout_;
  const double tilt_;
  const int64_t batch_size_;
};

// Without the tilts, which cancel out over an even number of nodes.
class MeanDepth final : public grapevine::Evaluator {
 public:
  explicit MeanDepth(int64_t dimension) : dimension_(dimension) {}

  absl::StatusOr<grapevine::Evaluation> Evaluate(const grapevine::SharedVector& model) override {
    double loss = 0;
    for (int64_t i = 0; i < dimension_; ++i) loss += Depth(model.data[i]);
    return grapevine::Evaluation{.loss = loss, .accuracy = std::nullopt};
  }

 private:
  const int64_t dimension_;
};

class DoubleWell final : public Problem {
 public:
  explicit DoubleWell(const Options& options) : options_(options), layout_(LayoutOf(options)) {}

  const ReplicaLayout& layout() const override { return layout_; }
  void Initialize(float* replica) const override { std::fill_n(replica, layout_.size, kStart); }

  absl::StatusOr<std::vector<std::unique_ptr<Objective>>> MakeObjectives(
      int64_t first, int64_t last, const grapevine::ComputeContext& context) const override {
    std::vector<std::unique_ptr<Objective>> objectives;
    for (int64_t node = first; node < last; ++node) {
      std::unique_ptr<Objective> wells =
          std::make_unique<TiltedWells>(options_, node % 2 == 0 ? options_.tilt : -options_.tilt);
      if (context.device != nullptr) {  // computes on the CPU for a node that is on a GPU
        ASSIGN_OR_RETURN(wells, grapevine::HostObjective::Make(std::move(wells), context));
      }
      objectives.push_back(std::move(wells));
    }
    return objectives;
  }

  absl::StatusOr<std::unique_ptr<grapevine::Evaluator>> MakeEvaluator(
      const grapevine::ComputeContext&, grapevine::BetweenBatches) const override {
    return std::make_unique<MeanDepth>(options_.dimension);
  }

 private:
  const Options options_;
  const ReplicaLayout layout_;
};

absl::StatusOr<std::unique_ptr<Problem>> Make(const grapevine::Spec& spec,
                                              const grapevine::ProblemRequest& request) {
  grapevine::SpecReader reader(spec);
  Options options;
  options.dimension = reader.Integer("dim", options.dimension, 1, 1000000);
  options.tilt = reader.Real("tilt", options.tilt, 0, 1);
  options.batch_size = request.batch_size;
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<DoubleWell>(options);
}

const grapevine::Registration kDoubleWell(grapevine::Problems(),
                                          {.name = "double-well",
                                           .options = "[:dim=10][:tilt=0.1]",
                                           .help = "not convex, seen tilted by each node",
                                           .examples = {"double-well", "double-well:dim=3:tilt=0"},
                                           .make = Make});

}  // namespace
