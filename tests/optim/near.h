// Vectors that agree to within rounding.
#ifndef GRAPEVINE_TESTS_OPTIM_NEAR_H_
#define GRAPEVINE_TESTS_OPTIM_NEAR_H_

#include <gmock/gmock.h>

#include <utility>
#include <vector>

namespace grapevine {

inline ::testing::Matcher<std::vector<float>> Near(std::vector<float> expected) {
  return ::testing::Pointwise(::testing::FloatNear(1e-6f), std::move(expected));
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_OPTIM_NEAR_H_
