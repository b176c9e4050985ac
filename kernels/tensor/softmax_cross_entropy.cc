#include "kernels/tensor/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>

namespace grapevine {
namespace {

// One row of the batch; returns its loss. `scale` multiplies the gradient.
double Row(const CrossEntropy& loss, const float* logits, int32_t label, float scale,
           float* gradient) {
  const int64_t classes = loss.classes;
  const float largest = *std::max_element(logits, logits + classes);
  double sum = 0;
  double logit_sum = 0;
  for (int64_t c = 0; c < classes; ++c) {
    sum += std::exp(logits[c] - largest);
    logit_sum += logits[c] - largest;
  }
  const double log_sum = std::log(sum);
  const double spread = loss.label_smoothing / static_cast<double>(classes);
  if (gradient != nullptr) {
    const float inverse = static_cast<float>(1 / sum);
    for (int64_t c = 0; c < classes; ++c) {
      const float target =
          static_cast<float>(spread) + (c == label ? 1 - loss.label_smoothing : 0.0f);
      gradient[c] = scale * (std::exp(logits[c] - largest) * inverse - target);
    }
  }
  const double nll = log_sum - (logits[label] - largest);
  const double uniform = log_sum * static_cast<double>(classes) - logit_sum;
  return (1 - loss.label_smoothing) * nll + spread * uniform;
}

}  // namespace

double SoftmaxCrossEntropy(const CrossEntropy& loss, const float* logits,
                           std::span<const int32_t> labels, float* gradient) {
  const float scale = 1 / static_cast<float>(labels.size());
  double total = 0;
  for (size_t n = 0; n < labels.size(); ++n) {
    const int64_t at = static_cast<int64_t>(n) * loss.classes;
    total +=
        Row(loss, logits + at, labels[n], scale, gradient == nullptr ? nullptr : gradient + at);
  }
  return total;
}

int64_t CountCorrect(int64_t classes, const float* logits, std::span<const int32_t> labels) {
  int64_t correct = 0;
  for (int32_t label : labels) {
    const float own = logits[label];
    int64_t best = 0;
    for (int64_t c = 1; c < classes; ++c) {
      if (logits[c] > logits[best]) best = c;
    }
    correct += best == label && own == own;
    logits += classes;
  }
  return correct;
}

}  // namespace grapevine
