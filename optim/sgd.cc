#include "optim/sgd.h"

#include "absl/strings/str_cat.h"
#include "kernels/passes/mix_and_step.h"
#include "optim/buffer_average.h"

namespace grapevine {

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
