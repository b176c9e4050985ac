// Reference of softmax cross-entropy with label smoothing. The loss of a sample is
// -sum_c target_c log p_c, where target = (1 - eps) one-hot + eps / classes.
#ifndef GRAPEVINE_KERNELS_TENSOR_REFERENCE_SOFTMAX_CROSS_ENTROPY_H_
#define GRAPEVINE_KERNELS_TENSOR_REFERENCE_SOFTMAX_CROSS_ENTROPY_H_

#include <cmath>
#include <cstdint>
#include <vector>

namespace grapevine {

template <typename T>
std::vector<T> ReferenceSoftmax(const std::vector<T>& logits, int64_t classes) {
  std::vector<T> p(logits.size());
  for (size_t row = 0; row < logits.size(); row += classes) {
    T sum = 0;
    for (int64_t c = 0; c < classes; ++c) sum += p[row + c] = std::exp(logits[row + c]);
    for (int64_t c = 0; c < classes; ++c) p[row + c] /= sum;
  }
  return p;
}

template <typename T>
T ReferenceTarget(int64_t c, int32_t label, int64_t classes, T smoothing) {
  return smoothing / static_cast<T>(classes) + (c == label ? 1 - smoothing : T(0));
}

// Returns the loss summed over the samples.
template <typename T>
T ReferenceCrossEntropy(const std::vector<T>& logits, const std::vector<int32_t>& labels,
                        int64_t classes, T smoothing) {
  const std::vector<T> p = ReferenceSoftmax(logits, classes);
  T loss = 0;
  for (size_t n = 0; n < labels.size(); ++n) {
    for (int64_t c = 0; c < classes; ++c) {
      loss -= ReferenceTarget(c, labels[n], classes, smoothing) * std::log(p[n * classes + c]);
    }
  }
  return loss;
}

// Returns the gradient of the loss averaged over the samples.
template <typename T>
std::vector<T> ReferenceCrossEntropyGradient(const std::vector<T>& logits,
                                             const std::vector<int32_t>& labels, int64_t classes,
                                             T smoothing) {
  std::vector<T> gradient = ReferenceSoftmax(logits, classes);
  for (size_t n = 0; n < labels.size(); ++n) {
    for (int64_t c = 0; c < classes; ++c) {
      T& g = gradient[n * classes + c];
      g = (g - ReferenceTarget(c, labels[n], classes, smoothing)) / static_cast<T>(labels.size());
    }
  }
  return gradient;
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_REFERENCE_SOFTMAX_CROSS_ENTROPY_H_
