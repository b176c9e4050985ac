// How the learning rate follows the batch.
//
// A rate that is tuned for one batch is multiplied by a factor for another:
//
//   none
//   linear[:base=256]   B / base     Goyal et al., arXiv:1706.02677, section 2.1
//   sqrt[:base=256]     sqrt(B / base)   Krizhevsky, arXiv:1404.5997, section 5
//
// B is the global batch: the samples that all workers together see in a round. It is the right
// number where a round moves the (averaged) model by the mean of the workers' gradients, as all
// synchronous algorithms here do: the more samples, the less noise in the mean, and the larger a
// step it can bear. Where gradients were summed, the step would grow with their number already.
//
// Thread-safety: a pure function.
#ifndef GRAPEVINE_OPTIM_RATE_SCALING_H_
#define GRAPEVINE_OPTIM_RATE_SCALING_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"

namespace grapevine {

struct RateScaling {
  double base = 0;    // the batch that the unscaled rate is for
  double factor = 1;  // of that rate
};

// Absent for "none". Errors name the spec and what is known or allowed.
absl::StatusOr<std::optional<RateScaling>> ScaleRate(std::string_view spec, int64_t global_batch);

}  // namespace grapevine

#endif  // GRAPEVINE_OPTIM_RATE_SCALING_H_
