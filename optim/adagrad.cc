#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/passes/mix_and_step.h"
#include "optim/optimizer.h"

namespace grapevine {
namespace {

// Adagrad: PyTorch's, applied to a mixture (kernels/passes/mix_and_step.h). It has no decline of
// the rate of its own; schedules have that.
//
// Thread-safety: immutable, safe from any thread.
class Adagrad final : public Optimizer {
 public:
  Adagrad(double epsilon, double weight_decay) : epsilon_(epsilon), weight_decay_(weight_decay) {}

  std::string name() const override {
    return absl::StrCat("adagrad:eps=", epsilon_, ":weight_decay=", weight_decay_);
  }
  // The state is the sum of the gradient's squares.
  int state_vectors() const override { return 1; }
  void Step(const ReplicaLayout& layout, const StepRequest& request,
            VectorTable& vectors) const override {
    vectors.passes().MixAndStep(
        vectors.Resolve(request.mix),
        AdagradStep{.own = vectors.At(request.own).data.get(),
                    .gradient = vectors.At(request.gradient).data.get(),
                    .sum = vectors.At(request.state).data.get(),
                    .learning_rate = static_cast<float>(request.learning_rate),
                    .gradient_scale = static_cast<float>(request.gradient_scale),
                    .weight_decay = static_cast<float>(weight_decay_),
                    .epsilon = static_cast<float>(epsilon_)},
        layout.parameter_size, vectors.At(request.out).data.get());
    AverageBuffers(layout, request, vectors);
  }

 private:
  const double epsilon_;
  const double weight_decay_;
};

absl::StatusOr<std::unique_ptr<Optimizer>> Make(const Spec& spec, const OptimizerOptions& options) {
  SpecReader reader(spec);
  const double epsilon = reader.Real("eps", 1e-10, kSmallestEpsilon);
  const double weight_decay = reader.Real("weight_decay", options.weight_decay, 0);
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<Adagrad>(epsilon, weight_decay);
}

const Registration kAdagrad(
    Optimizers(), {.name = "adagrad",
                   .options = "[:eps=1e-10][:weight_decay=0.0001]",
                   .help = "steps by the root of all squares so far; 1 state vector, rates "
                           "near 0.01",
                   .examples = {"adagrad", "adagrad:eps=1e-6:weight_decay=0.01"},
                   .make = Make});

}  // namespace
}  // namespace grapevine
