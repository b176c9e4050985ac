#include "model/problem/objective_wrappers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "base/gradient.h"
#include "base/ids.h"
#include "base/status.h"
#include "kernels/device/device.h"
#include "kernels/vector/norms.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/shared_vector.h"
#include "kernels/vector/vector_passes.h"
#include "model/network/backward_cost.h"
#include "model/problem/gradient_meters.h"

namespace grapevine {

absl::StatusOr<std::unique_ptr<ClippedObjective>> ClippedObjective::Make(
    std::unique_ptr<Objective> objective, double limit, const ComputeContext& context) {
  const int64_t doubles = ClipScratch(objective->layout().parameter_size);
  std::unique_ptr<ClippedObjective> clipped(new ClippedObjective(std::move(objective), limit));
  if (context.device == nullptr) return clipped;
  clipped->stream_ = context.stream;
  clipped->timeout_ = context.timeout;
  ASSIGN_OR_RETURN(clipped->scratch_, context.device->Allocate(doubles * int64_t{sizeof(double)},
                                                               "a gradient's norm"));
  return clipped;
}

absl::StatusOr<double> ClippedObjective::Gradient(const float* replica, int64_t round,
                                                  float* gradient) {
  ASSIGN_OR_RETURN(const double loss, Inside(replica, round, gradient));
  const int64_t size = layout().parameter_size;
  if (stream_ == nullptr) {
    CpuPasses().ClipNorm(gradient, size, limit_, nullptr);
    return loss;
  }
  stream_->ClipNorm(gradient, size, limit_, static_cast<double*>(scratch_.get()));
  RETURN_IF_ERROR(stream_->Finish(timeout_));
  return loss;
}

namespace {

// Computes sums on the CPU or on the objectives' stream.
struct Adder {
  std::shared_ptr<void> memory;  // memory of `sum`
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

// Thread-compatible, as the inner objective.
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
  // Computes the last pass's gradient and writes the mean over all passes, of which the sum has the
  // earlier ones, into `gradient`. Returns the loss of the last pass.
  absl::StatusOr<double> MeanInParts(const float* replica, Passes passes, float* gradient,
                                     const FinalFrom& final_from);

  // Returns how many of the elements [from, end) are parameters.
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

namespace {

// Thread-compatible, as the inner objective.
class NormedObjective final : public ForwardingObjective {
 public:
  NormedObjective(std::unique_ptr<Objective> objective, std::function<bool(int64_t)> measured,
                  std::shared_ptr<NormMeter> meter)
      : ForwardingObjective(std::move(objective)),
        measured_(std::move(measured)),
        meter_(std::move(meter)) {}

  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override {
    return GradientInParts(replica, round, gradient, nullptr);
  }
  absl::StatusOr<double> GradientInParts(const float* replica, int64_t round, float* gradient,
                                         const FinalFrom& final_from) override;
  std::span<const TensorNorms> norms() const override { return norms_; }
  double ReadyAt(int64_t from, int64_t round) const override {
    return inside().ReadyAt(from, round);
  }

 private:
  absl::StatusOr<double> Measured(const float* replica, int64_t round, float* gradient,
                                  const FinalFrom& final_from);
  // Adds to the meter those of the first `tensors` tensors of `vector` that begin at `from` or
  // after it, from the last to the first. Returns how many of the first `tensors` are left.
  size_t AddFrom(int64_t from, size_t tensors, const float* vector);
  // Takes the norms of all tensors: first those of the weights and then those of the gradient, each
  // added from the last tensor to the first.
  absl::Status TakeNorms();

  const std::function<bool(int64_t)> measured_;
  const std::shared_ptr<NormMeter> meter_;
  std::vector<TensorNorms> norms_;
};

absl::StatusOr<double> NormedObjective::GradientInParts(const float* replica, int64_t round,
                                                        float* gradient,
                                                        const FinalFrom& final_from) {
  norms_.clear();
  return measured_(round) ? Measured(replica, round, gradient, final_from)
                          : Inside(replica, round, gradient, final_from);
}

absl::StatusOr<double> NormedObjective::Measured(const float* replica, int64_t round,
                                                 float* gradient, const FinalFrom& final_from) {
  const std::vector<TensorView>& tensors = layout().parameters;
  AddFrom(0, tensors.size(), replica);
  size_t left = tensors.size();
  int64_t announced = layout().size;
  FinalFrom part;
  if (final_from) {
    part = [&](int64_t from) {
      left = AddFrom(from, left, gradient);
      // The last tensor that begins before `from` is not measured yet, and may end after `from`.
      const int64_t unmeasured = left == 0 ? 0 : tensors[left - 1].offset + tensors[left - 1].size;
      const int64_t measured = std::max(from, unmeasured);
      if (measured >= announced) return;
      announced = measured;
      final_from(announced);
    };
  }
  ASSIGN_OR_RETURN(const double loss, Inside(replica, round, gradient, part));
  AddFrom(0, left, gradient);
  RETURN_IF_ERROR(TakeNorms());
  return loss;
}

size_t NormedObjective::AddFrom(int64_t from, size_t tensors, const float* vector) {
  const std::vector<TensorView>& parameters = layout().parameters;
  for (; tensors > 0 && parameters[tensors - 1].offset >= from; --tensors) {
    const TensorView& tensor = parameters[tensors - 1];
    meter_->Add(vector + tensor.offset, tensor.size);
  }
  return tensors;
}

absl::Status NormedObjective::TakeNorms() {
  ASSIGN_OR_RETURN(const std::vector<double> squares, meter_->Take());
  const std::vector<TensorView>& tensors = layout().parameters;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const size_t weights = tensors.size() - 1 - i;
    norms_.push_back({.tensor = tensors[i].name,
                      .dimensions = static_cast<int64_t>(tensors[i].shape.size()),
                      .weights = std::sqrt(squares[weights]),
                      .gradient = std::sqrt(squares[weights + tensors.size()])});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<Objective>>> Normed(
    std::vector<std::unique_ptr<Objective>> objectives, std::function<bool(int64_t round)> measured,
    const ComputeContext& context) {
  if (objectives.empty()) return objectives;
  ASSIGN_OR_RETURN(std::shared_ptr<NormMeter> meter,
                   NormMeter::Make(objectives.front()->layout().parameter_size, context));
  for (std::unique_ptr<Objective>& objective : objectives) {
    objective = std::make_unique<NormedObjective>(std::move(objective), measured, meter);
  }
  return objectives;
}

namespace {

constexpr int64_t kElement = sizeof(float);

}  // namespace

absl::StatusOr<std::unique_ptr<HostObjective>> HostObjective::Make(
    std::unique_ptr<Objective> objective, const ComputeContext& context) {
  const int64_t bytes = 2 * objective->layout().size * kElement;
  ASSIGN_OR_RETURN(std::shared_ptr<void> memory,
                   context.device->AllocatePinned(bytes, "a replica and a gradient on the CPU"));
  return std::unique_ptr<HostObjective>(
      new HostObjective(std::move(objective), context, std::move(memory)));
}

HostObjective::HostObjective(std::unique_ptr<Objective> objective, const ComputeContext& context,
                             std::shared_ptr<void> memory)
    : objective_(std::move(objective)),
      stream_(context.stream),
      timeout_(context.timeout),
      memory_(std::move(memory)),
      replica_(static_cast<float*>(memory_.get())),
      gradient_(replica_ + objective_->layout().size) {}

absl::StatusOr<double> HostObjective::GradientInParts(const float* replica, int64_t round,
                                                      float* gradient,
                                                      const FinalFrom& final_from) {
  stream_->Download(replica, layout().size * kElement, replica_);
  RETURN_IF_ERROR(stream_->Finish(timeout_));
  int64_t end = layout().size;
  const auto upload_from = [&](int64_t from) {
    stream_->Upload(gradient_ + from, (end - from) * kElement, gradient + from);
    end = from;
  };
  ASSIGN_OR_RETURN(const double loss,
                   objective_->GradientInParts(replica_, round, gradient_, [&](int64_t from) {
                     upload_from(from);
                     final_from(from);
                   }));
  upload_from(0);
  RETURN_IF_ERROR(stream_->Finish(timeout_));
  return loss;
}

}  // namespace grapevine
