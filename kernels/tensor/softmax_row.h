// The arithmetic of softmax cross-entropy for one row of logits, for every backend.
#ifndef GRAPEVINE_KERNELS_TENSOR_SOFTMAX_ROW_H_
#define GRAPEVINE_KERNELS_TENSOR_SOFTMAX_ROW_H_

#include <cmath>
#include <cstdint>

#include "kernels/passes/sgd_update.h"

namespace grapevine {

// Sums over the logits of a row.
struct SoftmaxSums {
  float largest = 0;
  double exponentials = 0;  // of exp(logit - largest)
  double logits = 0;        // of logit - largest
};

GRAPEVINE_ELEMENTWISE void AddLogit(float logit, SoftmaxSums* sums) {
  sums->exponentials += std::exp(logit - sums->largest);
  sums->logits += logit - sums->largest;
}

// -sum_c target_c log p_c.
GRAPEVINE_ELEMENTWISE double RowLoss(int64_t classes, float label_smoothing,
                                     const SoftmaxSums& sums, float label_logit) {
  const double log_sum = std::log(sums.exponentials);
  const double spread = label_smoothing / static_cast<double>(classes);
  const double nll = log_sum - (label_logit - sums.largest);
  const double uniform = log_sum * static_cast<double>(classes) - sums.logits;
  return (1 - label_smoothing) * nll + spread * uniform;
}

// scale * (p_c - target_c); `inverse` is 1 / sums.exponentials, `spread` label_smoothing /
// classes.
struct LogitGradient {
  float scale = 1;
  float inverse = 0;
  float spread = 0;
  float label_smoothing = 0;
};
GRAPEVINE_ELEMENTWISE float GradientOfLogit(const LogitGradient& row, float shifted_logit,
                                            bool is_label) {
  const float target = row.spread + (is_label ? 1 - row.label_smoothing : 0.0f);
  return row.scale * (std::exp(shifted_logit) * row.inverse - target);
}

GRAPEVINE_ELEMENTWISE LogitGradient RowGradient(int64_t classes, float label_smoothing,
                                                const SoftmaxSums& sums, float scale) {
  return {scale, static_cast<float>(1 / sums.exponentials),
          static_cast<float>(label_smoothing / static_cast<double>(classes)), label_smoothing};
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_SOFTMAX_ROW_H_
