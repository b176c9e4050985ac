// Quadratics f_i(x) = (h/2) |x - b_i|^2, the problems on which decentralized SGD has an exact
// solution.
#ifndef GRAPEVINE_TESTS_ALGORITHM_QUADRATICS_H_
#define GRAPEVINE_TESTS_ALGORITHM_QUADRATICS_H_

#include <cstdint>
#include <functional>
#include <span>

#include "base/ids.h"
#include "random/keyed_random.h"

namespace grapevine::testing {

using GradientFunction =
    std::function<void(Rank, Round, std::span<const float> x, std::span<float> gradient)>;

// h (x - b(rank)) + sigma * standard normal noise in each coordinate.
inline GradientFunction Quadratic(
    double h, double sigma, uint64_t seed,
    std::function<double(Rank)> b = [](Rank) { return 0.0; }) {
  return [=](Rank rank, Round round, std::span<const float> x, std::span<float> gradient) {
    KeyedRandom noise(seed, Purpose::kGradientNoise, rank, round);
    const double center = b(rank);
    for (size_t i = 0; i < x.size(); ++i) {
      const double draw = sigma == 0 ? 0.0 : sigma * noise.Normal();
      gradient[i] = static_cast<float>(h * (x[i] - center) + draw);
    }
  };
}

// A b for heterogeneous data.
inline double UnlikeOptimum(Rank rank) { return 0.3 * rank - 1; }

// Uniform in [-1, 1) and different on every node.
inline void RandomStart(Rank rank, std::span<float> x) {
  KeyedRandom random(7, Purpose::kInitialization, rank);
  for (float& value : x) value = static_cast<float>(2 * random.Unit() - 1);
}

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_ALGORITHM_QUADRATICS_H_
