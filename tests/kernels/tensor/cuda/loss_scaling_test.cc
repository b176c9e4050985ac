#include "kernels/tensor/cuda/loss_scaling.h"

#include <gtest/gtest.h>

namespace grapevine {
namespace {

TEST(LossScalingTest, AnOverflowHalvesTheScale) {
  LossScaling scaling({.start = 8});
  scaling.Update(true);
  EXPECT_EQ(scaling.scale(), 4);
  scaling.Update(true);
  EXPECT_EQ(scaling.scale(), 2);
}

TEST(LossScalingTest, StepsWithoutAnOverflowDoubleIt) {
  LossScaling scaling({.start = 8, .largest = 16, .growth_steps = 3});
  for (int step = 0; step < 2; ++step) scaling.Update(false);
  EXPECT_EQ(scaling.scale(), 8);
  scaling.Update(false);
  EXPECT_EQ(scaling.scale(), 16);
  for (int step = 0; step < 3; ++step) scaling.Update(false);
  EXPECT_EQ(scaling.scale(), 16) << "the largest";
}

TEST(LossScalingTest, AnOverflowBeginsTheCountAnew) {
  LossScaling scaling({.start = 8, .growth_steps = 2});
  scaling.Update(false);
  scaling.Update(true);
  scaling.Update(false);
  EXPECT_EQ(scaling.scale(), 4);
  scaling.Update(false);
  EXPECT_EQ(scaling.scale(), 8);
}

TEST(LossScalingTest, AtTheSmallestScaleAnOverflowIsTheModelsOwn) {
  LossScaling scaling({.start = 2, .smallest = 1});
  EXPECT_TRUE(scaling.drops_overflows());
  scaling.Update(true);
  EXPECT_FALSE(scaling.drops_overflows());
  scaling.Update(true);
  EXPECT_EQ(scaling.scale(), 1);
}

}  // namespace
}  // namespace grapevine
