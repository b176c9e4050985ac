// The references against finite differences in double.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/tensor/reference/operation.h"
#include "kernels/tensor/reference/softmax_cross_entropy.h"
#include "tests/kernels/tensor/operation_cases.h"

namespace grapevine {
namespace {

constexpr double kStep = 1e-5;
constexpr double kTolerance = 1e-6;  // relative, of central differences

class ReferenceTest : public ::testing::TestWithParam<OperationCase> {};

double Objective(const OperationCase& c, const ReferenceCall<double>& call,
                 const std::vector<double>& dy) {
  const std::vector<double> y = RunReference(c.operation, call);
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += y[i] * dy[i];
  return sum;
}

TEST_P(ReferenceTest, GradientIsTheSlope) {
  const OperationCase& c = GetParam();
  ReferenceCall<double> call = MakeCall<double>(c);
  const auto dy = RandomValues<double>(ReferenceShapeOf(c.operation, c.inputs).size(), 9);
  const ReferenceGradient<double> gradient = RunReferenceBackward(c.operation, call, dy);

  const auto expect_slope = [&](double* value, double expected, const std::string& what) {
    const double center = *value;
    *value = center + kStep;
    const double above = Objective(c, call, dy);
    *value = center - kStep;
    const double below = Objective(c, call, dy);
    *value = center;
    const double slope = (above - below) / (2 * kStep);
    EXPECT_NEAR(slope, expected, kTolerance * (1 + std::abs(expected))) << what;
  };
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    for (size_t i = 0; i < call.inputs[k].size(); ++i) {
      expect_slope(&call.inputs[k][i], gradient.inputs[k][i],
                   "input " + std::to_string(k) + " element " + std::to_string(i));
    }
  }
  for (int64_t i = 0; i < c.parameter_size; ++i) {
    expect_slope(&call.replica[i], gradient.replica[i], "parameter " + std::to_string(i));
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, ReferenceTest, ::testing::ValuesIn(SmallCases()),
                         [](const auto& info) { return info.param.name; });

TEST(ReferenceCrossEntropyTest, GradientIsTheSlope) {
  constexpr int64_t kClasses = 5;
  const std::vector<int32_t> labels = {4, 0, 2};
  for (double smoothing : {0.0, 0.1}) {
    std::vector<double> logits = RandomValues<double>(labels.size() * kClasses, 3);
    const auto gradient = ReferenceCrossEntropyGradient(logits, labels, kClasses, smoothing);
    for (size_t i = 0; i < logits.size(); ++i) {
      const double center = logits[i];
      logits[i] = center + kStep;
      const double above = ReferenceCrossEntropy(logits, labels, kClasses, smoothing);
      logits[i] = center - kStep;
      const double below = ReferenceCrossEntropy(logits, labels, kClasses, smoothing);
      logits[i] = center;
      const double slope = (above - below) / (2 * kStep) / static_cast<double>(labels.size());
      EXPECT_NEAR(slope, gradient[i], kTolerance) << "logit " << i << " smoothing " << smoothing;
    }
  }
}

}  // namespace
}  // namespace grapevine
