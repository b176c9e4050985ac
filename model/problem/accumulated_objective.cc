#include "model/problem/accumulated_objective.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "base/gradient_noise.h"
#include "base/ids.h"
#include "base/status_macros.h"
#include "kernels/device/device.h"
#include "kernels/vector/shared_vector.h"
#include "kernels/vector/vector_passes.h"
#include "model/network/backward_cost.h"
#include "model/problem/forwarding_objective.h"
#include "model/problem/noise_meter.h"

namespace grapevine {
namespace {

// Where sums are computed: the CPU, or the objectives' stream.
struct Adder {
  std::shared_ptr<void> memory;  // of `sum`
  float* sum = nullptr;
  DeviceStream* stream = nullptr;  // null: the CPU
  std::chrono::nanoseconds timeout{};

  void WeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out) const {
    if (stream != nullptr) {
      stream->WeightedSum(terms, size, out);
    } else {
      CpuPasses().WeightedSum(terms, size, out);
    }
  }
  absl::Status Finish() const {
    return stream != nullptr ? stream->Finish(timeout) : absl::OkStatus();
  }
};

absl::StatusOr<Adder> MakeAdder(int64_t size, const ComputeContext& context) {
  if (context.device == nullptr) {
    const SharedVector sum = NewSharedVector(size);
    return Adder{.memory = sum.data, .sum = sum.data.get()};
  }
  ASSIGN_OR_RETURN(
      std::shared_ptr<void> memory,
      context.device->Allocate(size * int64_t{sizeof(float)}, "the sum of accumulated gradients"));
  auto* const sum = static_cast<float*>(memory.get());
  return Adder{std::move(memory), sum, context.stream, context.timeout};
}

// Thread-compatible, as the objective inside.
class AccumulatedObjective final : public ForwardingObjective {
 public:
  AccumulatedObjective(std::unique_ptr<Objective> objective, PassesOf passes,
                       std::shared_ptr<const Adder> adder, std::shared_ptr<NoiseMeter> meter)
      : ForwardingObjective(std::move(objective)),
        passes_(std::move(passes)),
        adder_(std::move(adder)),
        meter_(std::move(meter)) {}

  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override {
    return GradientInParts(replica, round, gradient, nullptr);
  }
  absl::StatusOr<double> GradientInParts(const float* replica, int64_t round, float* gradient,
                                         const FinalFrom& final_from) override;
  double ReadyAt(int64_t from, int64_t round) const override {
    const auto [first, count] = passes_(round);
    return ReadyInTheLastPass(inside().ReadyAt(from, first + count - 1), count);
  }
  GradientNoise noise() const override { return noise_; }
  void DealAgain(int64_t from, std::span<const Rank> living) override {
    ForwardingObjective::DealAgain(passes_(from).first, living);
  }

 private:
  absl::StatusOr<double> Pass(const float* replica, int64_t pass, float* gradient);
  // The mean over `count` passes: of the sum, and of the last pass's gradient.
  absl::StatusOr<double> MeanInParts(const float* replica, Passes passes, float* gradient,
                                     const FinalFrom& final_from);

  // How many of these elements are parameters.
  int64_t ParametersIn(int64_t from, int64_t end) const {
    return std::max<int64_t>(0, std::min(end, layout().parameter_size) - from);
  }

  const PassesOf passes_;
  const std::shared_ptr<const Adder> adder_;
  const std::shared_ptr<NoiseMeter> meter_;  // null: noise is not measured
  GradientNoise noise_;
};

absl::StatusOr<double> AccumulatedObjective::Pass(const float* replica, int64_t pass,
                                                  float* gradient) {
  ASSIGN_OR_RETURN(const double loss, Inside(replica, pass, gradient));
  if (meter_) meter_->AddPass(gradient, layout().parameter_size);
  return loss;
}

absl::StatusOr<double> AccumulatedObjective::GradientInParts(const float* replica, int64_t round,
                                                             float* gradient,
                                                             const FinalFrom& final_from) {
  const auto [first, count] = passes_(round);
  noise_ = {};
  if (count == 1) return Inside(replica, first, gradient, final_from);
  const int64_t size = layout().size;
  float* const sum = adder_->sum;
  ASSIGN_OR_RETURN(double loss, Pass(replica, first, sum));
  for (int64_t pass = first + 1; pass < first + count - 1; ++pass) {
    ASSIGN_OR_RETURN(const double added, Pass(replica, pass, gradient));
    loss += added;
    adder_->WeightedSum(std::vector<WeightedVector>{{1, sum}, {1, gradient}}, size, sum);
  }
  ASSIGN_OR_RETURN(const double last, MeanInParts(replica, {first, count}, gradient, final_from));
  return (loss + last) / static_cast<double>(count);
}

absl::StatusOr<double> AccumulatedObjective::MeanInParts(const float* replica, Passes passes,
                                                         float* gradient,
                                                         const FinalFrom& final_from) {
  const float share = 1 / static_cast<float>(passes.count);
  int64_t end = layout().size;
  const auto average_from = [&](int64_t from) {
    if (meter_) meter_->AddPass(gradient + from, ParametersIn(from, end));
    adder_->WeightedSum(
        std::vector<WeightedVector>{{share, adder_->sum + from}, {share, gradient + from}},
        end - from, gradient + from);
    if (meter_) meter_->AddMean(gradient + from, ParametersIn(from, end));
    end = from;
  };
  FinalFrom part;
  if (final_from) {
    part = [&](int64_t from) {
      average_from(from);
      final_from(from);
    };
  }
  ASSIGN_OR_RETURN(const double loss,
                   Inside(replica, passes.first + passes.count - 1, gradient, part));
  average_from(0);
  if (meter_) {
    ASSIGN_OR_RETURN(noise_, meter_->Take(passes.count, batch_size()));
  }
  RETURN_IF_ERROR(adder_->Finish());
  return loss;
}

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<Objective>>> Accumulated(
    std::vector<std::unique_ptr<Objective>> objectives, Accumulation accumulation,
    const ComputeContext& context) {
  if (objectives.empty()) return objectives;
  const ReplicaLayout& layout = objectives.front()->layout();
  ASSIGN_OR_RETURN(Adder made, MakeAdder(layout.size, context));
  const auto adder = std::make_shared<const Adder>(std::move(made));
  std::shared_ptr<NoiseMeter> meter;
  if (accumulation.measures_noise) {
    ASSIGN_OR_RETURN(meter, NoiseMeter::Make(layout.parameter_size, context));
  }
  for (std::unique_ptr<Objective>& objective : objectives) {
    objective = std::make_unique<AccumulatedObjective>(std::move(objective), accumulation.passes,
                                                       adder, meter);
  }
  return objectives;
}

}  // namespace grapevine
