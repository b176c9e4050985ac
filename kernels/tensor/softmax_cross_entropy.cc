#include "kernels/tensor/softmax_cross_entropy.h"

#include <algorithm>

namespace grapevine {
namespace {

// Returns the loss of one row of the batch and writes its gradient, multiplied by `scale`, unless
// `gradient` is null.
double Row(const CrossEntropy& loss, const float* logits, int32_t label, float scale,
           float* gradient) {
  const int64_t classes = loss.classes;
  SoftmaxSums sums{.largest = *std::max_element(logits, logits + classes)};
  for (int64_t c = 0; c < classes; ++c) AddLogit(logits[c], &sums);
  if (gradient != nullptr) {
    const LogitGradient row = RowGradient(classes, loss.label_smoothing, sums, scale);
    for (int64_t c = 0; c < classes; ++c) {
      gradient[c] = GradientOfLogit(row, logits[c] - sums.largest, c == label);
    }
  }
  return RowLoss(classes, loss.label_smoothing, sums, logits[label]);
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
