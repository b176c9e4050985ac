// Softmax cross-entropy with label smoothing, fused with its gradient.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_KERNELS_TENSOR_SOFTMAX_CROSS_ENTROPY_H_
#define GRAPEVINE_KERNELS_TENSOR_SOFTMAX_CROSS_ENTROPY_H_

#include <cstdint>
#include <span>

namespace grapevine {

struct CrossEntropy {
  int64_t classes = 0;
  // eps of Szegedy et al. 2016: the target is (1 - eps) * one-hot + eps / classes.
  float label_smoothing = 0;
};

// The summed loss over the rows of `logits` (labels.size(), classes). Labels
// lie in [0, classes). Where `gradient` is not null it receives that of the
// mean loss, in the shape of the logits.
double SoftmaxCrossEntropy(const CrossEntropy& loss, const float* logits,
                           std::span<const int32_t> labels, float* gradient);

// Rows whose largest logit (the first of equals) is the label's. A NaN is never
// the largest.
int64_t CountCorrect(int64_t classes, const float* logits, std::span<const int32_t> labels);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_SOFTMAX_CROSS_ENTROPY_H_
