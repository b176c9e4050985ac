// Softmax cross-entropy with label smoothing, fused with its gradient. All backends share the
// arithmetic of one row of logits, defined here.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_KERNELS_TENSOR_SOFTMAX_CROSS_ENTROPY_H_
#define GRAPEVINE_KERNELS_TENSOR_SOFTMAX_CROSS_ENTROPY_H_

#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/passes/instruction_set.h"

namespace grapevine {

// Sums over the logits of a row.
struct SoftmaxSums {
  float largest = 0;
  double exponentials = 0;  // sum of exp(logit - largest)
  double logits = 0;        // sum of (logit - largest)
};

GRAPEVINE_ELEMENTWISE void AddLogit(float logit, SoftmaxSums* sums) {
  sums->exponentials += std::exp(logit - sums->largest);
  sums->logits += logit - sums->largest;
}

// Returns the loss of a row: -sum_c target_c log p_c.
GRAPEVINE_ELEMENTWISE double RowLoss(int64_t classes, float label_smoothing,
                                     const SoftmaxSums& sums, float label_logit) {
  const double log_sum = std::log(sums.exponentials);
  const double spread = label_smoothing / static_cast<double>(classes);
  const double nll = log_sum - (label_logit - sums.largest);
  const double uniform = log_sum * static_cast<double>(classes) - sums.logits;
  return (1 - label_smoothing) * nll + spread * uniform;
}

// The numbers of a row from which GradientOfLogit computes scale * (p_c - target_c). `inverse` is
// 1 / sums.exponentials, `spread` is label_smoothing / classes.
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

struct CrossEntropy {
  int64_t classes = 0;
  // eps of Szegedy et al. 2016: the target is (1 - eps) * one-hot + eps / classes.
  float label_smoothing = 0;
};

// Returns the loss summed over the rows of `logits`, whose shape is (labels.size(), classes).
// Labels are in [0, classes). If `gradient` is not null, it receives the gradient of the mean loss,
// in the shape of the logits.
double SoftmaxCrossEntropy(const CrossEntropy& loss, const float* logits,
                           std::span<const int32_t> labels, float* gradient);

// Returns the number of rows whose largest logit is the label's. The first of equal logits counts
// as the largest; a NaN never does.
int64_t CountCorrect(int64_t classes, const float* logits, std::span<const int32_t> labels);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_SOFTMAX_CROSS_ENTROPY_H_
