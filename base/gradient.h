// What is known of a round's gradient besides its elements: the passes that it is the mean of, the
// norms of its tensors, and how noisy it is.
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

// The passes of a round: the batches whose gradients' mean is the round's gradient. They are
// numbered through from round 0.
struct Passes {
  int64_t first = 0;
  int64_t count = 1;  // at least one
};

// A pure function, safe from any thread.
using PassesOf = std::function<Passes(Round round)>;

// How long a tensor of a network is, and its gradient: their ratio is what LARS and LAMB make of
// the learning rate of each (You et al., arXiv:1708.03888, section 4).
struct TensorNorms {
  std::string tensor;      // its name in the replica: "conv1.weight"
  int64_t dimensions = 0;  // of its shape; LARS and LAMB leave alone what has one
  double weights = 0;      // Euclidean norms
  double gradient = 0;
};

// How far the gradients of single samples lie from their mean, which says how large a batch still
// pays (McCandlish et al., arXiv:1812.06162, section 2.2 and appendix A.1).
//
// A batch of B samples has a gradient of expected squared norm |G|^2 + tr(S) / B, where G is the
// true gradient and S the covariance of one sample's. Two sizes of batch tell |G|^2 and tr(S)
// apart.
//
// Sums over gradients of unbiased estimates, which single ones of little use are: either may be
// negative. Their ratio would be biased, so they are averaged first.
struct GradientNoise {
  double variance = 0;    // tr(S)
  double square = 0;      // |G|^2
  int64_t gradients = 0;  // none where nothing is measured

  GradientNoise& operator+=(const GradientNoise& other) {
    variance += other.variance;
    square += other.square;
    gradients += other.gradients;
    return *this;
  }

  // tr(S) / |G|^2, the simple noise scale, in samples: absent where the estimate of |G|^2 is not
  // positive.
  std::optional<double> Scale() const {
    if (!(square > 0)) return std::nullopt;
    return variance / square;
  }
};

// Of the mean over `passes` gradients, at least two, of `batch` samples each: from the sum of
// their squared norms and the squared norm of their mean.
inline GradientNoise NoiseOf(double sum_of_squares, double square_of_mean, int64_t passes,
                             int64_t batch) {
  const auto count = static_cast<double>(passes);
  // Of a pass's gradient: the sample variance.
  const double variance = (sum_of_squares - count * square_of_mean) / (count - 1);
  return {.variance = variance * static_cast<double>(batch),
          .square = square_of_mean - variance / count,
          .gradients = 1};
}

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_GRADIENT_H_
