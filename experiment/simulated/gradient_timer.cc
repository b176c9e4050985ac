#include "experiment/simulated/gradient_timer.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "base/status_macros.h"
#include "base/units.h"
#include "kernels/vector/aligned_buffer.h"
#include "model/problem/objective.h"

namespace grapevine {
namespace {

constexpr int kWarmUps = 2;
constexpr int kGradients = 9;

}  // namespace

absl::StatusOr<std::chrono::nanoseconds> MeasureGradient(const Experiment& experiment) {
  ASSIGN_OR_RETURN(const std::vector<std::unique_ptr<Objective>> objective,
                   experiment.problem().MakeObjectives(0, 1, {}));
  const SharedVector replica = NewSharedVector(experiment.layout().size);
  const SharedVector gradient = NewSharedVector(experiment.layout().size);
  RETURN_IF_ERROR(experiment.Initialize(replica.data.get()));
  std::vector<std::chrono::nanoseconds> times;
  for (int i = 0; i < kWarmUps + kGradients; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    RETURN_IF_ERROR(
        objective.front()->Gradient(replica.data.get(), i, gradient.data.get()).status());
    if (i >= kWarmUps) times.push_back(std::chrono::steady_clock::now() - begin);
  }
  std::ranges::nth_element(times, times.begin() + kGradients / 2);
  return std::chrono::nanoseconds(ThreeDigits(times[kGradients / 2].count()));
}

}  // namespace grapevine
