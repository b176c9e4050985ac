#include "optim/sgd.h"

#include "absl/strings/str_cat.h"
#include "kernels/mix_and_step.h"
#include "optim/buffer_average.h"

namespace grapevine {

std::string Sgd::name() const {
  return absl::StrCat(options_.nesterov ? "nesterov" : "sgd", ":momentum=", options_.momentum,
                      ":weight_decay=", options_.weight_decay);
}

void Sgd::Step(const ReplicaLayout& layout, const StepInput& input, float* state, float* out,
               VectorPasses& passes) const {
  const SgdStep step{.own = input.own,
                     .gradient = input.gradient,
                     .velocity = state,
                     .learning_rate = input.learning_rate,
                     .gradient_scale = input.gradient_scale,
                     .weight_decay = static_cast<float>(options_.weight_decay),
                     .momentum = static_cast<float>(options_.momentum),
                     .nesterov = options_.nesterov};
  passes.MixAndStep(input.mix, step, layout.parameter_size, out);
  AverageBuffers(layout, input, out, passes);
}

}  // namespace grapevine
