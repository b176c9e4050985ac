// How far the gradients of single samples lie from their mean, which says how large a batch still
// pays (McCandlish et al., arXiv:1812.06162, section 2.2 and appendix A.1).
//
// A batch of B samples has a gradient of expected squared norm |G|^2 + tr(S) / B, where G is the
// true gradient and S the covariance of one sample's. Two sizes of batch tell |G|^2 and tr(S)
// apart.
//
// Thread-safety: values and pure functions.
#ifndef GRAPEVINE_BASE_GRADIENT_NOISE_H_
#define GRAPEVINE_BASE_GRADIENT_NOISE_H_

#include <cstdint>
#include <optional>

namespace grapevine {

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

#endif  // GRAPEVINE_BASE_GRADIENT_NOISE_H_
