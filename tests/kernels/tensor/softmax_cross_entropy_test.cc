#include "kernels/tensor/softmax_cross_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/tensor/reference/softmax_cross_entropy.h"
#include "tests/kernels/tensor/operation_cases.h"

namespace grapevine {
namespace {

constexpr int64_t kClasses = 10;

TEST(SoftmaxCrossEntropyTest, AgreesWithTheReference) {
  const std::vector<int32_t> labels = {3, 9, 0, 3};
  const auto logits = RandomValues<float>(labels.size() * kClasses, 5);
  const std::vector<double> precise(logits.begin(), logits.end());
  for (float smoothing : {0.0f, 0.1f}) {
    std::vector<float> gradient(logits.size());
    const double loss =
        SoftmaxCrossEntropy({kClasses, smoothing}, logits.data(), labels, gradient.data());
    const auto s = static_cast<double>(smoothing);
    EXPECT_NEAR(loss, ReferenceCrossEntropy(precise, labels, kClasses, s), 1e-5);
    const auto expected = ReferenceCrossEntropyGradient(precise, labels, kClasses, s);
    for (size_t i = 0; i < gradient.size(); ++i) EXPECT_NEAR(gradient[i], expected[i], 1e-6) << i;
  }
}

TEST(SoftmaxCrossEntropyTest, LargeLogitsDoNotOverflow) {
  const std::vector<float> logits = {1e4f, -1e4f, 0};
  const std::vector<int32_t> labels = {1};
  std::vector<float> gradient(3);
  EXPECT_FLOAT_EQ(SoftmaxCrossEntropy({3}, logits.data(), labels, gradient.data()), 2e4f);
  EXPECT_EQ(gradient, (std::vector<float>{1, -1, 0}));
}

TEST(SoftmaxCrossEntropyTest, ANanShowsInTheLoss) {
  for (int at : {0, 1, 2}) {
    std::vector<float> logits = {1, 2, 3};
    logits[at] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<int32_t> labels = {1};
    EXPECT_TRUE(std::isnan(SoftmaxCrossEntropy({3}, logits.data(), labels, nullptr))) << at;
  }
}

TEST(CountCorrectTest, TheFirstOfEqualLogitsWins) {
  const std::vector<float> logits = {1,  1, 0,  //
                                     0,  2, 1,  //
                                     -1, 0, 3};
  const std::vector<int32_t> labels = {0, 1, 0};
  EXPECT_EQ(CountCorrect(3, logits.data(), labels), 2);
  const std::vector<int32_t> others = {1, 2, 1};
  EXPECT_EQ(CountCorrect(3, logits.data(), others), 0);
}

TEST(CountCorrectTest, ANanIsNeverCorrect) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> logits = {nan, nan, nan};
  for (int32_t label : {0, 1, 2}) {
    EXPECT_EQ(CountCorrect(3, logits.data(), std::vector<int32_t>{label}), 0) << label;
  }
}

}  // namespace
}  // namespace grapevine
