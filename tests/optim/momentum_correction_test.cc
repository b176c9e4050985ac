// Momentum when the learning rate changes. Where the rate is in the buffer, v <- m v + rate g;
// x <- x - v, Goyal et al. (arXiv:1706.02677, remark 2) multiply m by the new rate over the old
// one. SGD here keeps the rate out of the buffer, as PyTorch does, which is the same; LARS has both
// forms.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/vector/replica_layout.h"
#include "tests/optim/stepper.h"

namespace grapevine {
namespace {

constexpr int64_t kSize = 24;
constexpr int kSteps = 60;
constexpr double kMomentum = 0.9;

ReplicaLayout Matrix() {
  ReplicaLayout layout;
  layout.AddParameter("weight", {4, kSize / 4});
  return layout;
}

// A warm-up, then a drop to a tenth.
double RateOf(int step) {
  if (step < 20) return 0.001 + 0.002 * step;
  return step < 40 ? 0.04 : 0.004;
}

std::vector<float> Start() {
  std::vector<float> start;
  for (int64_t i = 0; i < kSize; ++i) {
    start.push_back(static_cast<float>(1.5 + 0.4 * std::sin(static_cast<double>(i))));
  }
  return start;
}
std::vector<float> GradientOf(int step) {
  std::vector<float> gradient;
  for (int64_t i = 0; i < kSize; ++i) {
    gradient.push_back(static_cast<float>(std::sin(0.1 * step + static_cast<double>(i))));
  }
  return gradient;
}

double Norm(const std::vector<double>& x) {
  return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
}

// With `trust` 0 plain SGD, else LARS.
std::vector<double> RateInTheBuffer(double trust, bool corrected) {
  const std::vector<float> start = Start();
  std::vector<double> x(start.begin(), start.end()), v(x.size());
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<float> g = GradientOf(step);
    const double ratio = trust > 0 ? trust * Norm(x) / (Norm({g.begin(), g.end()}) + 1e-9) : 1;
    const double correction = corrected && step > 0 ? RateOf(step) / RateOf(step - 1) : 1;
    for (size_t i = 0; i < x.size(); ++i) {
      v[i] = kMomentum * correction * v[i] + RateOf(step) * ratio * g[i];
      x[i] -= v[i];
    }
  }
  return x;
}

std::vector<float> Stepped(const std::string& spec) {
  Stepper stepper(spec, Matrix(), Start());
  std::vector<float> x;
  for (int step = 0; step < kSteps; ++step) x = stepper.Step(GradientOf(step), RateOf(step));
  return x;
}

double LargestDifference(const std::vector<float>& actual, const std::vector<double>& expected) {
  double largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::abs(actual[i] - expected[i]));
  }
  return largest;
}

TEST(MomentumCorrection, SgdNeedsNone) {
  const std::vector<float> stepped = Stepped("sgd:momentum=0.9");
  EXPECT_LT(LargestDifference(stepped, RateInTheBuffer(0, /*corrected=*/true)), 1e-5);
  EXPECT_GT(LargestDifference(stepped, RateInTheBuffer(0, /*corrected=*/false)), 0.1);
}

TEST(MomentumCorrection, LarsHasThePapersFormUnlessAskedForTheCorrectedOne) {
  const std::vector<float> paper = Stepped("lars:trust=0.5");
  EXPECT_LT(LargestDifference(paper, RateInTheBuffer(0.5, /*corrected=*/false)), 1e-5);
  EXPECT_GT(LargestDifference(paper, RateInTheBuffer(0.5, /*corrected=*/true)), 0.01);
  const std::vector<float> corrected = Stepped("lars:trust=0.5:correction=yes");
  EXPECT_LT(LargestDifference(corrected, RateInTheBuffer(0.5, /*corrected=*/true)), 1e-5);
}

}  // namespace
}  // namespace grapevine
