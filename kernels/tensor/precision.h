// In what a network computes on a GPU. Replicas, gradients and sums are fp32 in all.
#ifndef GRAPEVINE_KERNELS_TENSOR_PRECISION_H_
#define GRAPEVINE_KERNELS_TENSOR_PRECISION_H_

namespace grapevine {

enum class Precision {
  kFp32,
  kTf32,  // products of fp32 by tensor cores, which keep 10 bits of each factor
  kBf16,  // activations and the weights that products read
  kFp16,  // likewise, with a scaled loss
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_PRECISION_H_
