// How long a gradient takes on this machine, for simulations of a model that
// learns when nobody says it.
#ifndef GRAPEVINE_EXPERIMENT_SIMULATED_GRADIENT_TIMER_H_
#define GRAPEVINE_EXPERIMENT_SIMULATED_GRADIENT_TIMER_H_

#include <chrono>

#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"

namespace grapevine {

// The median of a few gradients of rank 0 on one thread, rounded to three
// digits. Where the problem learns.
absl::StatusOr<std::chrono::nanoseconds> MeasureGradient(const Experiment& experiment);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SIMULATED_GRADIENT_TIMER_H_
