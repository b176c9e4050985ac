// Estimates the cost of a backward pass relative to a forward one, where nothing is measured.
#ifndef GRAPEVINE_MODEL_NETWORK_BACKWARD_COST_H_
#define GRAPEVINE_MODEL_NETWORK_BACKWARD_COST_H_

#include <cstdint>

namespace grapevine {

// The cost of a backward pass in forward passes: the gradient of a matrix product takes two
// matrix products.
inline constexpr int64_t kBackwardCost = 2;

// Returns the share of a gradient's time after which the elements [from, size) are final, for a
// model of which only the size is known. All elements are assumed to cost the same.
inline double EvenlyReadyAt(int64_t from, int64_t size) {
  const int64_t ready = size + kBackwardCost * (size - from);
  return static_cast<double>(ready) / static_cast<double>((1 + kBackwardCost) * size);
}

// Returns the share of the time of all passes after which elements are final, if they become final
// after `share` of the last pass.
inline double ReadyInTheLastPass(double share, int64_t passes) {
  const auto count = static_cast<double>(passes);
  return (count - 1 + share) / count;
}

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_BACKWARD_COST_H_
