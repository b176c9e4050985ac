#include "kernels/tensor/cuda/loss_scaling.h"

#include <algorithm>

namespace grapevine {

void LossScaling::Update(bool overflowed) {
  if (overflowed) {
    scale_ = std::max(options_.smallest, scale_ / 2);
    good_steps_ = 0;
  } else if (++good_steps_ >= options_.growth_steps) {
    scale_ = std::min(options_.largest, scale_ * 2);
    good_steps_ = 0;
  }
}

}  // namespace grapevine
