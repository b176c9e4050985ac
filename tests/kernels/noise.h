// A vector of normal numbers.
#ifndef GRAPEVINE_TESTS_KERNELS_NOISE_H_
#define GRAPEVINE_TESTS_KERNELS_NOISE_H_

#include <cstdint>
#include <vector>

#include "random/keyed_random.h"

namespace grapevine {

inline std::vector<float> Noise(int64_t size) {
  KeyedRandom random(/*seed=*/3, Purpose::kGradientNoise);
  std::vector<float> values(static_cast<size_t>(size));
  for (float& value : values) value = static_cast<float>(random.Normal());
  return values;
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_KERNELS_NOISE_H_
