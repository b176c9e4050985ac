#include <cmath>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/passes/mix_and_step.h"
#include "optim/optimizer.h"

namespace grapevine {
namespace {

// Stochastic gradient descent with heavy-ball or Nesterov momentum and weight
// decay: PyTorch's torch.optim.SGD with dampening 0, applied to a mixture.
//
// Thread-safety: immutable, safe from any thread.
class Sgd final : public Optimizer {
 public:
  explicit Sgd(const OptimizerOptions& options) : options_(options) {}

  std::string name() const override;
  // The state is the momentum buffer; none without momentum.
  int state_vectors() const override { return options_.momentum == 0 ? 0 : 1; }
  void Step(const ReplicaLayout& layout, const StepRequest& request,
            VectorTable& vectors) const override;

 private:
  OptimizerOptions options_;
};

absl::StatusOr<std::unique_ptr<Optimizer>> MakeSgd(const Spec& spec, OptimizerOptions options) {
  SpecReader reader(spec);
  options.momentum = reader.Real("momentum", options.momentum);
  options.weight_decay = reader.Real("weight_decay", options.weight_decay);
  RETURN_IF_ERROR(reader.Finish());
  if (!(options.momentum >= 0 && options.momentum < 1)) {
    return SpecError(spec.text, absl::StrCat("momentum is ", options.momentum,
                                             "; it must be at least 0 and less than 1"));
  }
  if (!(options.weight_decay >= 0 && std::isfinite(options.weight_decay))) {
    return SpecError(spec.text, absl::StrCat("weight decay is ", options.weight_decay,
                                             "; it must be 0 or a positive number"));
  }
  if (options.nesterov && options.momentum == 0) {
    return SpecError(spec.text, "Nesterov needs a momentum greater than 0");
  }
  return std::make_unique<Sgd>(options);
}

absl::StatusOr<std::unique_ptr<Optimizer>> MakeNesterov(const Spec& spec,
                                                        OptimizerOptions options) {
  options.nesterov = true;
  return MakeSgd(spec, options);
}

constexpr char kSgdOptions[] = "[:momentum=0.9][:weight_decay=0.0001]";

const Registration kSgd(Optimizers(),
                        {.name = "sgd",
                         .options = kSgdOptions,
                         .help = "heavy-ball momentum",
                         .examples = {"sgd:momentum=0", "sgd:momentum=0:weight_decay=0.01",
                                      "sgd:momentum=0.9", "sgd:momentum=0.9:weight_decay=0.01"},
                         .make = MakeSgd});

const Registration kNesterov(Optimizers(), {.name = "nesterov",
                                            .options = kSgdOptions,
                                            .help = "Nesterov momentum",
                                            .examples = {"nesterov:momentum=0.9",
                                                         "nesterov:momentum=0.9:weight_decay=0.01"},
                                            .make = MakeNesterov});

}  // namespace

std::string Sgd::name() const {
  return absl::StrCat(options_.nesterov ? "nesterov" : "sgd", ":momentum=", options_.momentum,
                      ":weight_decay=", options_.weight_decay);
}

void Sgd::Step(const ReplicaLayout& layout, const StepRequest& request,
               VectorTable& vectors) const {
  const SgdStep step{.own = vectors.At(request.own).data.get(),
                     .gradient = vectors.At(request.gradient).data.get(),
                     .velocity = vectors.At(request.state).data.get(),
                     .learning_rate = static_cast<float>(request.learning_rate),
                     .gradient_scale = static_cast<float>(request.gradient_scale),
                     .weight_decay = static_cast<float>(options_.weight_decay),
                     .momentum = static_cast<float>(options_.momentum),
                     .nesterov = options_.nesterov};
  vectors.passes().MixAndStep(vectors.Resolve(request.mix), step, layout.parameter_size,
                              vectors.At(request.out).data.get());
  AverageBuffers(layout, request, vectors);
}

}  // namespace grapevine
