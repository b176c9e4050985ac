// Sequences computed by hand, and checked once against torch.optim.SGD (1.13.1,
// double, lr=0.1, momentum=0.5, weight_decay=0.25, gradients 1, -2, 4 from x=1).
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/vector_table.h"
#include "optim/optimizer.h"
#include "tests/optim/near.h"

namespace grapevine {
namespace {

// A vector of one element.
Vec Number(float value, VectorTable& vectors) {
  const Vec vector = vectors.New(1, "a number");
  vectors.At(vector).data[0] = value;
  return vector;
}

std::vector<float> Trajectory(const std::string& spec, const OptimizerOptions& options) {
  ReplicaLayout layout;
  layout.AddParameter("x", {1});
  const auto optimizer = *MakeOptimizer(spec, options);
  VectorTable vectors;
  const Vec x = Number(1, vectors), velocity = Number(0, vectors);
  const Term own{1.0, vectors.Whole(x)};
  std::vector<float> trajectory;
  for (float slope : {1.0f, -2.0f, 4.0f}) {
    optimizer->Step(layout,
                    {.range = {0, 1},
                     .out = x,
                     .mix = {&own, 1},
                     .own = x,
                     .gradient = Number(slope, vectors),
                     .state = velocity,
                     .learning_rate = 0.1},
                    vectors);
    trajectory.push_back(vectors.At(x).data[0]);
  }
  return trajectory;
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
  VectorTable vectors;
  const Vec own = Number(2, vectors), neighbour = Number(10, vectors), out = Number(0, vectors);
  const Term mix[] = {{0.5, vectors.Whole(own)}, {0.5, vectors.Whole(neighbour)}};
  optimizer->Step(layout,
                  {.range = {0, 1},
                   .out = out,
                   .mix = mix,
                   .own = own,
                   .gradient = Number(0, vectors),
                   .state = vectors.New(0, "no state"),
                   .learning_rate = 0.1},
                  vectors);
  EXPECT_FLOAT_EQ(vectors.At(out).data[0], 6 - 0.1f * 0.5f * 2);
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
  EXPECT_THAT(
      refusal("sdg", {}),
      ::testing::AllOf(::testing::HasSubstr("sdg: unknown optimizer 'sdg'"),
                       ::testing::HasSubstr("nesterov[:momentum=0.9][:weight_decay=0.0001], "
                                            "sgd[:momentum=0.9][:weight_decay=0.0001]")));
  EXPECT_EQ(refusal("sgd", {.momentum = 1}),
            "sgd: momentum is 1; it must be at least 0 and less than 1");
  EXPECT_EQ(refusal("sgd:weight_decay=-1", {}),
            "sgd:weight_decay=-1: weight decay is -1; it must be 0 or a positive number");
  EXPECT_EQ(refusal("nesterov:momentum=0", {}),
            "nesterov:momentum=0: Nesterov needs a momentum greater than 0");
  EXPECT_THAT(refusal("sgd:beta=1", {}), ::testing::HasSubstr("unknown option 'beta'"));
}

}  // namespace
}  // namespace grapevine
