// Dynamic loss scaling for fp16 (Micikevicius et al. 2018): the loss's gradient is multiplied
// by a power of two, so that small gradients do not underflow, and the gradient of the weights
// is divided by it again.
//
// A step whose gradient overflows halves the scale. The local gradient is dropped, but not the
// round: in decentralized SGD, every node must take part in each round. The step therefore goes on
// with a zero gradient (and the replica's own running statistics), which leaves only the mixing. At
// the smallest scale, an overflow comes from the model itself; it is kept, so that a diverged run
// is noticed.
//
// Thread-compatible.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_LOSS_SCALING_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_LOSS_SCALING_H_

#include <cstdint>

namespace grapevine {

struct LossScalingOptions {
  float start = 65536;
  float smallest = 1;
  float largest = 16777216;
  int64_t growth_steps = 2000;  // steps without an overflow after which the scale doubles
};

class LossScaling {
 public:
  explicit LossScaling(const LossScalingOptions& options) : options_(options) {}

  float scale() const { return scale_; }
  // Returns whether a gradient that overflows at this scale is dropped.
  bool drops_overflows() const { return scale_ > options_.smallest; }

  // Adapts the scale after a step at scale().
  void Update(bool overflowed);

 private:
  const LossScalingOptions options_;
  float scale_ = options_.start;
  int64_t good_steps_ = 0;  // steps without an overflow since the scale was last adapted
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_LOSS_SCALING_H_
