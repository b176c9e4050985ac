// Sequences computed by hand, and checked once against torch.optim.SGD (1.13.1,
// double, lr=0.1, momentum=0.5, weight_decay=0.25, gradients 1, -2, 4 from x=1).
#include <memory>
#include <string>
#include <vector>

#include "base/failure.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/replica_layout.h"
#include "optim/optimizer.h"

namespace grapevine {
namespace {

std::vector<float> Trajectory(const std::string& spec, const OptimizerOptions& options) {
  ReplicaLayout layout;
  layout.AddParameter("x", {1});
  const auto optimizer = *MakeOptimizer(spec, options);
  float x = 1;
  float velocity = 0;
  std::vector<float> trajectory;
  for (float gradient : {1.0f, -2.0f, 4.0f}) {
    const WeightedVector own{1, &x};
    const StepInput input{
        .mix = {&own, 1}, .own = &x, .gradient = &gradient, .learning_rate = 0.1f};
    CpuPasses cpu;
    optimizer->Step(layout, input, &velocity, &x, cpu);
    trajectory.push_back(x);
  }
  return trajectory;
}

testing::Matcher<std::vector<float>> Near(std::vector<float> expected) {
  return testing::Pointwise(testing::FloatNear(1e-6f), expected);
}

TEST(SgdTest, HeavyBallFollowsPyTorch) {
  // d: 1.25, -1.78125, 4.24765625; m: 1.25, -1.15625, 3.66953125.
  EXPECT_THAT(Trajectory("sgd", {.momentum = 0.5, .weight_decay = 0.25}),
              Near({0.875f, 0.990625f, 0.623671875f}));
}

TEST(SgdTest, NesterovFollowsPyTorch) {
  // d: 1.25, -1.796875, 4.2626953125; m: 1.25, -1.171875, 3.6767578125.
  EXPECT_THAT(Trajectory("nesterov", {.momentum = 0.5, .weight_decay = 0.25}),
              Near({0.8125f, 1.05078125f, 0.440673828f}));
}

TEST(SgdTest, PlainGradientDescent) {
  EXPECT_THAT(Trajectory("sgd", {.momentum = 0}), Near({0.9f, 1.1f, 0.7f}));
}

TEST(SgdTest, WeightDecayIsTakenAtTheNodesOwnPoint) {
  ReplicaLayout layout;
  layout.AddParameter("x", {1});
  const auto optimizer = *MakeOptimizer("sgd", {.momentum = 0, .weight_decay = 0.5});
  const float own = 2, neighbour = 10, gradient = 0;
  const WeightedVector mix[] = {{0.5f, &own}, {0.5f, &neighbour}};
  float out = 0;
  CpuPasses cpu;
  optimizer->Step(layout, {.mix = mix, .own = &own, .gradient = &gradient, .learning_rate = 0.1f},
                  nullptr, &out, cpu);
  EXPECT_FLOAT_EQ(out, 6 - 0.1f * 0.5f * 2);
}

TEST(SgdTest, SpecsOverrideOptionsAndNamesAreCanonical) {
  const OptimizerOptions options{.momentum = 0.9, .weight_decay = 5e-4};
  EXPECT_EQ((*MakeOptimizer("sgd", options))->name(), "sgd:momentum=0.9:weight_decay=0.0005");
  EXPECT_EQ((*MakeOptimizer("sgd:momentum=0.8", options))->name(),
            "sgd:momentum=0.8:weight_decay=0.0005");
  EXPECT_EQ((*MakeOptimizer("nesterov", options))->name(),
            "nesterov:momentum=0.9:weight_decay=0.0005");
}

TEST(SgdTest, ImpossibleOptionsAreRefused) {
  const auto refusal = [](const std::string& spec, const OptimizerOptions& options) {
    const absl::Status status = MakeOptimizer(spec, options).status();
    EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(refusal("adam", {}), "adam: unknown optimizer; known: sgd, nesterov");
  EXPECT_EQ(refusal("sgd", {.momentum = 1}),
            "sgd: momentum is 1; it must be at least 0 and less than 1");
  EXPECT_EQ(refusal("sgd:weight_decay=-1", {}),
            "sgd:weight_decay=-1: weight decay is -1; it must be 0 or a positive number");
  EXPECT_EQ(refusal("nesterov:momentum=0", {}),
            "nesterov:momentum=0: Nesterov needs a momentum greater than 0");
  EXPECT_THAT(refusal("sgd:beta=1", {}), testing::HasSubstr("unknown option 'beta'"));
}

}  // namespace
}  // namespace grapevine
