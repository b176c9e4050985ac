// LARS and LAMB: rules with a rate for each tensor.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/vector/layerwise_step.h"
#include "optim/optimizer.h"

namespace grapevine {
namespace {

// A rule of two sweeps. The first sweep reads the vectors whose norms are taken.
//
// Thread-safety: immutable, safe from any thread.
class LayerwiseRule : public Optimizer {
 public:
  bool needs_whole(const TensorView& parameter) const final { return IsAdapted(parameter); }
  int64_t scratch(const ReplicaLayout& layout) const final {
    return LayerwiseScratch(LayerwiseTensorsOf(layout));
  }

 protected:
  template <typename Rule>
  void MixAndStep(const ReplicaLayout& layout, const StepRequest& request, const Rule& step,
                  VectorTable& vectors) const {
    vectors.passes().MixAndStep(
        vectors.Resolve(request.mix),
        Layerwise<Rule>{.step = step,
                        .tensors = LayerwiseTensorsOf(layout),
                        .scratch = vectors.At(request.state).data.get() +
                                   ScratchOffset(*this, layout.parameter_size)},
        layout.parameter_size, vectors.At(request.out).data.get());
    AverageBuffers(layout, request, vectors);
  }
};

class Lars final : public LayerwiseRule {
 public:
  Lars(double momentum, const LarsRates& rates, bool corrected)
      : momentum_(momentum), rates_(rates), corrected_(corrected) {}

  std::string name() const override {
    return absl::StrCat("lars:momentum=", momentum_, ":weight_decay=", rates_.weight_decay,
                        ":trust=", rates_.trust, ":eps=", rates_.epsilon,
                        corrected_ ? ":correction=yes" : "");
  }
  // The state is the momentum buffer, which includes the rates unless `corrected`; none without
  // momentum.
  int state_vectors() const override { return momentum_ == 0 ? 0 : 1; }
  // The sweep for the norms reads the replica and the gradient.
  int step_vectors() const override { return Optimizer::step_vectors() + 2; }
  void Step(const ReplicaLayout& layout, const StepRequest& request,
            VectorTable& vectors) const override {
    LarsRates rates = rates_;
    rates.learning_rate = corrected_ ? 1 : request.learning_rate;
    rates.gradient_scale = request.gradient_scale;
    MixAndStep(layout, request,
               LarsStep{.own = vectors.At(request.own).data.get(),
                        .gradient = vectors.At(request.gradient).data.get(),
                        .velocity = vectors.At(request.state).data.get(),
                        .momentum = static_cast<float>(momentum_),
                        .rates = rates,
                        .applied = corrected_ ? static_cast<float>(request.learning_rate) : 1},
               vectors);
  }

 private:
  const double momentum_;
  const LarsRates rates_;
  const bool corrected_;
};

class Lamb final : public LayerwiseRule {
 public:
  Lamb(double beta1, double beta2, double epsilon, double weight_decay)
      : beta1_(beta1), beta2_(beta2), epsilon_(epsilon), weight_decay_(weight_decay) {}

  std::string name() const override {
    return absl::StrCat("lamb:beta1=", beta1_, ":beta2=", beta2_, ":eps=", epsilon_,
                        ":weight_decay=", weight_decay_);
  }
  // The state is the means of the gradient and of its square.
  int state_vectors() const override { return 2; }
  // In addition to Adam's vectors, a step reads the replica for its norm and for the update's, and
  // both means again.
  int step_vectors() const override { return Optimizer::step_vectors() + 4; }
  void Step(const ReplicaLayout& layout, const StepRequest& request,
            VectorTable& vectors) const override {
    float* const state = vectors.At(request.state).data.get();
    AdamCoefficients adam = AdamCoefficientsAt(request.step, beta1_, beta2_, epsilon_);
    adam.gradient_scale = static_cast<float>(request.gradient_scale);
    adam.weight_decay = static_cast<float>(weight_decay_);
    adam.decay = Decay::kUpdate;
    MixAndStep(layout, request,
               LambStep{.own = vectors.At(request.own).data.get(),
                        .gradient = vectors.At(request.gradient).data.get(),
                        .mean = state,
                        .square = state + layout.parameter_size,
                        .adam = adam,
                        .learning_rate = request.learning_rate},
               vectors);
  }

 private:
  const double beta1_;
  const double beta2_;
  const double epsilon_;
  const double weight_decay_;
};

absl::StatusOr<std::unique_ptr<Optimizer>> MakeLars(const Spec& spec,
                                                    const OptimizerOptions& options) {
  SpecReader reader(spec);
  const double momentum = reader.Real("momentum", options.momentum, 0, kLargestBeta);
  const LarsRates rates{.weight_decay = reader.Real("weight_decay", options.weight_decay, 0),
                        .trust = reader.Real("trust", 0.001, 0),
                        .epsilon = reader.Real("eps", 1e-9, 0)};
  const bool corrected = reader.Choice("correction", {"no", "yes"}) == "yes";
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<Lars>(momentum, rates, corrected);
}

absl::StatusOr<std::unique_ptr<Optimizer>> MakeLamb(const Spec& spec,
                                                    const OptimizerOptions& options) {
  SpecReader reader(spec);
  const double beta1 = reader.Real("beta1", 0.9, 0, kLargestBeta);
  const double beta2 = reader.Real("beta2", 0.999, 0, kLargestBeta);
  const double epsilon = reader.Real("eps", 1e-6, kSmallestEpsilon);
  const double weight_decay = reader.Real("weight_decay", options.weight_decay, 0);
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<Lamb>(beta1, beta2, epsilon, weight_decay);
}

const Registration kLars(
    Optimizers(),
    {.name = "lars",
     .options = "[:momentum=0.9][:weight_decay=0.0001][:trust=0.001][:eps=1e-9]"
                "[:correction=yes]",
     .help = "momentum, with a rate for each tensor by |weights| / |gradient|: large batches; "
             "1 state vector, rates above 1",
     .examples = {"lars:trust=0.02", "lars:trust=0.02:weight_decay=0.01",
                  "lars:trust=0.1:momentum=0", "lars:trust=0.02:correction=yes"},
     .make = MakeLars});
const Registration kLamb(
    Optimizers(),
    {.name = "lamb",
     .options = "[:beta1=0.9][:beta2=0.999][:eps=1e-6][:weight_decay=0.01]",
     .help = "adamw, with a rate for each tensor by |weights| / |update|: large batches; "
             "2 state vectors, rates near 0.01",
     .examples = {"lamb", "lamb:beta1=0.8:beta2=0.99:weight_decay=0.01"},
     .make = MakeLamb});

}  // namespace
}  // namespace grapevine
