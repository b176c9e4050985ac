#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/passes/mix_and_step.h"
#include "optim/optimizer.h"

namespace grapevine {
namespace {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
};

// Adam and AdamW: PyTorch's, applied to a mixture (kernels/passes/mix_and_step.h).
//
// Thread-safety: immutable, safe from any thread.
class Adam final : public Optimizer {
 public:
  // The decay is kGradient for Adam and kUpdate for AdamW.
  Adam(const AdamOptions& options, Decay decay) : options_(options), decay_(decay) {}

  std::string name() const override {
    return absl::StrCat(decay_ == Decay::kUpdate ? "adamw" : "adam", ":beta1=", options_.beta1,
                        ":beta2=", options_.beta2, ":eps=", options_.epsilon,
                        ":weight_decay=", options_.weight_decay);
  }
  // The state is the means of the gradient and of its square.
  int state_vectors() const override { return 2; }
  void Step(const ReplicaLayout& layout, const StepRequest& request,
            VectorTable& vectors) const override {
    float* const state = vectors.At(request.state).data.get();
    AdamCoefficients adam =
        AdamCoefficientsAt(request.step, options_.beta1, options_.beta2, options_.epsilon);
    adam.gradient_scale = static_cast<float>(request.gradient_scale);
    adam.weight_decay = static_cast<float>(options_.weight_decay);
    adam.decay = options_.weight_decay == 0 ? Decay::kNone : decay_;
    vectors.passes().MixAndStep(
        vectors.Resolve(request.mix),
        AdamStep{.own = vectors.At(request.own).data.get(),
                 .gradient = vectors.At(request.gradient).data.get(),
                 .mean = state,
                 .square = state + layout.parameter_size,
                 .adam = adam,
                 .learning_rate = static_cast<float>(request.learning_rate)},
        layout.parameter_size, vectors.At(request.out).data.get());
    AverageBuffers(layout, request, vectors);
  }

 private:
  const AdamOptions options_;
  const Decay decay_;
};

absl::StatusOr<std::unique_ptr<Optimizer>> Make(const Spec& spec, const OptimizerOptions& options,
                                                Decay decay) {
  SpecReader reader(spec);
  const AdamOptions adam{.beta1 = reader.Real("beta1", 0.9, 0, kLargestBeta),
                         .beta2 = reader.Real("beta2", 0.999, 0, kLargestBeta),
                         .epsilon = reader.Real("eps", 1e-8, kSmallestEpsilon),
                         .weight_decay = reader.Real("weight_decay", options.weight_decay, 0)};
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<Adam>(adam, decay);
}

absl::StatusOr<std::unique_ptr<Optimizer>> MakeAdam(const Spec& spec,
                                                    const OptimizerOptions& options) {
  return Make(spec, options, Decay::kGradient);
}

absl::StatusOr<std::unique_ptr<Optimizer>> MakeAdamW(const Spec& spec,
                                                     const OptimizerOptions& options) {
  return Make(spec, options, Decay::kUpdate);
}

constexpr char kAdamOptions[] = "[:beta1=0.9][:beta2=0.999][:eps=1e-8][:weight_decay=0.01]";

const Registration kAdam(Optimizers(),
                         {.name = "adam",
                          .options = kAdamOptions,
                          .help = "steps by the gradient's mean and deviation; 2 state vectors, "
                                  "rates near 0.001",
                          .examples = {"adam", "adam:beta1=0.8:beta2=0.99:weight_decay=0.01"},
                          .make = MakeAdam});
const Registration kAdamW(Optimizers(), {.name = "adamw",
                                         .options = kAdamOptions,
                                         .help = "adam, with weight decay apart from its deviation",
                                         .examples = {"adamw", "adamw:eps=1e-6:weight_decay=0.01"},
                                         .make = MakeAdamW});

}  // namespace
}  // namespace grapevine
