// Properties of a round's gradient besides its elements: the passes over which it is averaged, the
// norms of its tensors, and its noise.
//
// Thread-safety: values and pure functions.
#ifndef GRAPEVINE_BASE_GRADIENT_H_
#define GRAPEVINE_BASE_GRADIENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/ids.h"

namespace grapevine {

// The passes of a round, one for each batch. The round's gradient is the mean of the gradients of
// these batches. Passes are numbered consecutively across rounds, from round 0 on.
struct Passes {
  int64_t first = 0;
  int64_t count = 1;  // at least 1
};

// Returns the passes of a round. A pure function, safe from any thread.
using PassesOf = std::function<Passes(Round round)>;

// The Euclidean norms of one tensor of a network and of its gradient. LARS and LAMB scale the
// learning rate of each tensor by their ratio (You et al., arXiv:1708.03888, section 4).
struct TensorNorms {
  std::string tensor;      // the tensor's name in the replica: "conv1.weight"
  int64_t dimensions = 0;  // in the tensor's shape; LARS and LAMB do not scale tensors with one
  double weights = 0;      // norm of the weights
  double gradient = 0;     // norm of the gradient
};

// How far the gradients of single samples lie from their mean. This noise determines up to which
// size larger batches pay (McCandlish et al., arXiv:1812.06162, section 2.2 and appendix A.1).
//
// A batch of B samples has a gradient of expected squared norm |G|^2 + tr(S) / B, where G is the
// true gradient and S the covariance of one sample's. Measurements with two batch sizes determine
// |G|^2 and tr(S).
//
// The fields are sums of unbiased estimates over gradients. A single estimate is of little use and
// may be negative. The ratio of single estimates would be biased; therefore the estimates are added
// up before Scale divides them.
struct GradientNoise {
  double variance = 0;    // tr(S)
  double square = 0;      // |G|^2
  int64_t gradients = 0;  // number of gradients in the sums; 0 if nothing was measured

  GradientNoise& operator+=(const GradientNoise& other) {
    variance += other.variance;
    square += other.square;
    gradients += other.gradients;
    return *this;
  }

  // Returns the simple noise scale tr(S) / |G|^2, in samples, or nothing if the estimate of |G|^2
  // is not positive.
  std::optional<double> Scale() const {
    if (!(square > 0)) return std::nullopt;
    return variance / square;
  }
};

// Estimates the noise of a gradient that is the mean over `passes` gradients of `batch` samples
// each, from the sum of their squared norms and the squared norm of their mean. `passes` must be at
// least 2.
inline GradientNoise NoiseOf(double sum_of_squares, double square_of_mean, int64_t passes,
                             int64_t batch) {
  const auto count = static_cast<double>(passes);
  // Sample variance of a pass's gradient.
  const double variance = (sum_of_squares - count * square_of_mean) / (count - 1);
  return {.variance = variance * static_cast<double>(batch),
          .square = square_of_mean - variance / count,
          .gradients = 1};
}

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_GRADIENT_H_
