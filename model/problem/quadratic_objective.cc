#include "model/problem/quadratic_objective.h"

#include <algorithm>
#include <utility>

#include "random/keyed_random.h"

namespace grapevine {

QuadraticObjective::QuadraticObjective(QuadraticOptions options) : options_(std::move(options)) {
  layout_.AddParameter("x", {static_cast<int64_t>(options_.optimum.size())});
}

void QuadraticObjective::Initialize(float* replica) {
  std::fill_n(replica, layout_.size, options_.start);
}

absl::StatusOr<double> QuadraticObjective::Gradient(const float* replica, int64_t round,
                                                    float* gradient) {
  KeyedRandom random(options_.seed, Purpose::kGradientNoise, static_cast<uint64_t>(options_.node),
                     static_cast<uint64_t>(round));
  double squares = 0;
  for (int64_t i = 0; i < layout_.size; ++i) {
    const double distance = static_cast<double>(replica[i]) - options_.optimum[i];
    squares += distance * distance;
    const double noise = options_.noise == 0 ? 0 : options_.noise * random.Normal();
    gradient[i] = static_cast<float>(options_.curvature * distance + noise);
  }
  return options_.curvature / 2 * squares;
}

}  // namespace grapevine
