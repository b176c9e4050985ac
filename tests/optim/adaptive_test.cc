// Adam, AdamW and Adagrad: sequences computed by hand, and PyTorch's over 100 steps. LARS and LAMB:
// a step computed by hand, and plain loops in double precision over 100 steps.
#include <cmath>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/vector/replica_layout.h"
#include "optim/optimizer.h"
#include "tests/optim/near.h"
#include "tests/optim/stepper.h"

namespace grapevine {
namespace {

ReplicaLayout Row(int64_t size) {
  ReplicaLayout layout;
  layout.AddParameter("x", {1, size});
  return layout;
}

// From x = 1 with the gradients 1, -2 and 4 at a rate of 0.1.
std::vector<float> Trajectory(const std::string& spec) {
  Stepper stepper(spec, Row(1), {1});
  std::vector<float> trajectory;
  for (const float gradient : {1.0f, -2.0f, 4.0f}) {
    trajectory.push_back(stepper.Step({gradient}, 0.1)[0]);
  }
  return trajectory;
}

TEST(AdamTest, CorrectsTheBiasOfItsMeans) {
  // m: 1/2, -3/4, 13/8, over 1/2, 3/4, 7/8; v: 1/4, 19/16, 313/64 over 1/4, 7/16, 37/64.
  EXPECT_THAT(Trajectory("adam:beta1=0.5:beta2=0.75"), Near({0.9f, 0.96069768f, 0.89684577f}));
}

TEST(AdamTest, DecayIsTheGradients) {
  // g is 1.5, then -2 + 0.5 * 0.9; of a first step only its sign matters.
  EXPECT_NEAR(Trajectory("adam:weight_decay=0.5")[0], 0.9, 1e-6);
}

TEST(AdamWTest, DecayIsTheUpdates) {
  EXPECT_NEAR(Trajectory("adamw:weight_decay=0.5")[0], 0.9 - 0.1 * 0.5, 1e-6);
}

TEST(AdagradTest, DividesByTheRootOfAllSquares) {
  // s: 1, 5, 21.
  EXPECT_THAT(Trajectory("adagrad"), Near({0.9f, 0.98944272f, 0.90215556f}));
}

TEST(LarsTest, ScalesATensorsRateByItsNorms) {
  // |w| = 5, |g| = 2: the ratio is 0.25 * 5 / (2 + 0.1 * 5) = 1/2.
  Stepper stepper("lars:momentum=0.5:weight_decay=0.1:trust=0.25:eps=0", Row(2), {3, 4});
  EXPECT_THAT(stepper.Step({0, 2}, 0.1), Near({2.985f, 3.88f}));
}

TEST(LambTest, ScalesATensorsRateByItsNorms) {
  // u = (1, -1) + 0.1 w, |u| = 1.4317821; |w| = 5.
  Stepper stepper("lamb:weight_decay=0.1", Row(2), {3, 4});
  EXPECT_THAT(stepper.Step({7, -2}, 0.01), Near({2.95460209f, 4.0209529f}));
}

TEST(LayerwiseTest, AZeroNormGivesTheRatioOne) {
  Stepper lars("lars:momentum=0:trust=0.25", Row(2), {0, 0});
  EXPECT_THAT(lars.Step({1, -2}, 0.1), Near({-0.1f, 0.2f}));
  Stepper lamb("lamb", Row(2), {0, 0});
  EXPECT_THAT(lamb.Step({1, -2}, 0.1), Near({-0.1f, 0.1f}));
  Stepper still("lars:momentum=0:weight_decay=0.5", Row(2), {3, 4});
  EXPECT_THAT(still.Step({0, 0}, 0.1), Near({2.85f, 3.8f}));
}

TEST(LayerwiseTest, ATensorOfOneDimensionHasNeitherRatioNorDecay) {
  ReplicaLayout bias;
  bias.AddParameter("bias", {2});
  Stepper lars("lars:momentum=0:weight_decay=0.5:trust=0.25", bias, {3, 4});
  EXPECT_THAT(lars.Step({1, -2}, 0.1), Near({2.9f, 4.2f}));
  Stepper lamb("lamb:weight_decay=0.5", bias, {3, 4});
  EXPECT_THAT(lamb.Step({1, -2}, 0.1), Near({2.9f, 4.1f}));
}

// As record_torch_steps has them.
std::vector<float> Start(int64_t size) {
  std::vector<float> start;
  for (int64_t i = 0; i < size; ++i) {
    start.push_back(static_cast<float>(1.5 + 0.4 * std::abs(std::sin(static_cast<double>(i)))));
  }
  return start;
}
std::vector<float> GradientOf(int step, int64_t size) {
  std::vector<float> gradient;
  for (int64_t i = 0; i < size; ++i) {
    gradient.push_back(static_cast<float>(std::sin(static_cast<double>((step + 1) * (i + 1)))));
  }
  return gradient;
}

// "SPEC RATE STEPS ELEMENT...": PyTorch's replica after so many steps, in double precision.
TEST(AdaptiveTest, FollowsPyTorchForAHundredSteps) {
  std::ifstream file("tests/optim/torch_steps.txt");
  int runs = 0;
  for (std::string line; std::getline(file, line); ++runs) {
    std::istringstream fields(line);
    std::string spec;
    double rate = 0;
    int steps = 0;
    fields >> spec >> rate >> steps;
    std::vector<double> expected;
    for (double element; fields >> element;) expected.push_back(element);
    const auto size = static_cast<int64_t>(expected.size());
    Stepper stepper(spec, Row(size), Start(size));
    std::vector<float> actual;
    for (int step = 0; step < steps; ++step) actual = stepper.Step(GradientOf(step, size), rate);
    ASSERT_EQ(actual.size(), expected.size()) << line;
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(actual[i], expected[i], 1e-6 * std::abs(expected[i]))
          << spec << " after " << steps << " steps, element " << i;
    }
  }
  EXPECT_GE(runs, 12) << "torch_steps.txt is not there, or not whole";
}

// A matrix, a bias, and a matrix that begins at zero.
ReplicaLayout Tensors() {
  ReplicaLayout layout;
  layout.AddParameter("weight", {4, 30});
  layout.AddParameter("bias", {4});
  layout.AddParameter("zero.weight", {3, 7});
  return layout;
}

double Norm(const std::vector<double>& x, const TensorView& tensor) {
  const auto begin = x.begin() + tensor.offset;
  return std::sqrt(std::inner_product(begin, begin + tensor.size, begin, 0.0));
}

struct Loop {
  ReplicaLayout layout = Tensors();
  std::vector<double> x, first, second;  // the replica and the state

  explicit Loop(const std::vector<float>& start)
      : x(start.begin(), start.end()), first(x.size()), second(x.size()) {}
};

constexpr double kDecay = 0.01, kTrust = 0.02, kLarsMomentum = 0.9;

void LarsStepOf(const std::vector<double>& g, double rate, Loop* loop) {
  for (const TensorView& tensor : loop->layout.parameters) {
    const bool excluded = tensor.shape.size() < 2;
    const double decay = excluded ? 0 : kDecay;
    const double w_norm = Norm(loop->x, tensor), g_norm = Norm(g, tensor);
    const double ratio = excluded || w_norm == 0 || g_norm == 0
                             ? 1
                             : kTrust * w_norm / (g_norm + decay * w_norm + 1e-9);
    for (int64_t i = tensor.offset; i < tensor.offset + tensor.size; ++i) {
      double& v = loop->first[i];
      v = kLarsMomentum * v + rate * ratio * (g[i] + decay * loop->x[i]);
      loop->x[i] -= v;
    }
  }
}

void LambStepOf(const std::vector<double>& g, int step, double rate, Loop* loop) {
  std::vector<double> u(g.size());
  for (const TensorView& tensor : loop->layout.parameters) {
    const bool excluded = tensor.shape.size() < 2;
    for (int64_t i = tensor.offset; i < tensor.offset + tensor.size; ++i) {
      double &m = loop->first[i], &v = loop->second[i];
      m = 0.9 * m + 0.1 * g[i];
      v = 0.999 * v + 0.001 * g[i] * g[i];
      const double mean = m / (1 - std::pow(0.9, step + 1));
      const double square = v / (1 - std::pow(0.999, step + 1));
      u[i] = mean / (std::sqrt(square) + 1e-6) + (excluded ? 0 : kDecay) * loop->x[i];
    }
    const double w_norm = Norm(loop->x, tensor), u_norm = Norm(u, tensor);
    const double ratio = excluded || w_norm == 0 || u_norm == 0 ? 1 : w_norm / u_norm;
    for (int64_t i = tensor.offset; i < tensor.offset + tensor.size; ++i) {
      loop->x[i] -= rate * ratio * u[i];
    }
  }
}

// Relative to the largest element of each tensor.
void ExpectClose(const std::vector<float>& actual, const Loop& loop) {
  for (const TensorView& tensor : loop.layout.parameters) {
    double error = 0, largest = 0;
    for (int64_t i = tensor.offset; i < tensor.offset + tensor.size; ++i) {
      error = std::max(error, std::abs(actual[i] - loop.x[i]));
      largest = std::max(largest, std::abs(loop.x[i]));
    }
    EXPECT_LT(error, 2e-6 * largest) << tensor.name;
  }
}

std::vector<float> StartOfTensors() {
  const ReplicaLayout layout = Tensors();
  std::vector<float> start = Start(layout.size);
  std::fill_n(start.begin() + layout.parameters[2].offset, layout.parameters[2].size, 0.0f);
  return start;
}

TEST(LarsTest, FollowsTheLoopForAHundredSteps) {
  const std::vector<float> start = StartOfTensors();
  Stepper stepper("lars:momentum=0.9:weight_decay=0.01:trust=0.02", Tensors(), start);
  Loop loop(start);
  std::vector<float> actual;
  for (int step = 0; step < 100; ++step) {
    const std::vector<float> gradient = GradientOf(step, static_cast<int64_t>(start.size()));
    actual = stepper.Step(gradient, 0.05);
    LarsStepOf({gradient.begin(), gradient.end()}, 0.05, &loop);
  }
  ExpectClose(actual, loop);
}

TEST(LambTest, FollowsTheLoopForAHundredSteps) {
  const std::vector<float> start = StartOfTensors();
  Stepper stepper("lamb:weight_decay=0.01", Tensors(), start);
  Loop loop(start);
  std::vector<float> actual;
  for (int step = 0; step < 100; ++step) {
    const std::vector<float> gradient = GradientOf(step, static_cast<int64_t>(start.size()));
    actual = stepper.Step(gradient, 0.003);
    LambStepOf({gradient.begin(), gradient.end()}, step, 0.003, &loop);
  }
  ExpectClose(actual, loop);
}

TEST(AdaptiveTest, ImpossibleOptionsAreRefused) {
  const auto refusal = [](const std::string& spec) {
    const absl::Status status = MakeOptimizer(spec, {}).status();
    EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
    return std::string(status.message());
  };
  EXPECT_THAT(refusal("adam:beta1=1"), ::testing::HasSubstr("beta1: 1 is more than"));
  EXPECT_THAT(refusal("adamw:eps=0"), ::testing::HasSubstr("eps: 0 is less than"));
  EXPECT_THAT(refusal("adagrad:weight_decay=-1"),
              ::testing::HasSubstr("weight_decay: -1 is less than 0"));
  EXPECT_THAT(refusal("lars:momentum=-0.1"), ::testing::HasSubstr("momentum: -0.1 is less than 0"));
  EXPECT_THAT(refusal("lamb:trust=1"), ::testing::HasSubstr("unknown option 'trust'"));
}

}  // namespace
}  // namespace grapevine
