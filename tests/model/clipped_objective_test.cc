// Gradients that are clipped by their norm, on the CPU and on a device.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/problem/objective_wrappers.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/function_objective.h"

namespace grapevine {
namespace {

using testing::EmulatedDevice;
using testing::FunctionObjective;

// Two parameters and a buffer.
ReplicaLayout Layout() {
  ReplicaLayout layout;
  layout.AddParameter("weight", {2});
  layout.AddBuffer("mean", {1});
  return layout;
}

// The gradient (3, 4), of norm 5, times round + 1; the buffer's 100 do not count.
std::unique_ptr<Objective> Growing() {
  return std::make_unique<FunctionObjective>(
      0, Layout(), [](Rank, Round round, std::span<const float>, std::span<float> gradient) {
        const auto factor = static_cast<float>(round + 1);
        gradient[0] = 3 * factor;
        gradient[1] = 4 * factor;
        gradient[2] = 100;
      });
}

TEST(ClippedObjectiveTest, ClipsTheParametersNormAndNothingElse) {
  const auto clipped = ClippedObjective::Make(Growing(), 10, {});
  ASSERT_TRUE(clipped.ok()) << clipped.status();
  const std::vector<float> replica(3);
  std::vector<float> gradient(3);
  EXPECT_EQ(*(*clipped)->Gradient(replica.data(), 0, gradient.data()), 0.5);
  EXPECT_EQ(gradient, (std::vector<float>{3, 4, 100}));
  EXPECT_EQ(*(*clipped)->Gradient(replica.data(), 3, gradient.data()), 0.5);
  EXPECT_EQ(gradient, (std::vector<float>{6, 8, 100}));
}

// Whoever sums a gradient in parts must not get a part before the norm of the whole is known.
TEST(ClippedObjectiveTest, NoPartIsFinalEarly) {
  const auto clipped = ClippedObjective::Make(Growing(), 10, {});
  ASSERT_TRUE(clipped.ok()) << clipped.status();
  const std::vector<float> replica(3);
  std::vector<float> gradient(3);
  int parts = 0;
  ASSERT_TRUE((*clipped)
                  ->GradientInParts(replica.data(), 3, gradient.data(), [&](int64_t) { ++parts; })
                  .ok());
  EXPECT_EQ(parts, 0);
  EXPECT_EQ(gradient, (std::vector<float>{6, 8, 100}));
  EXPECT_EQ((*clipped)->ReadyAt(2, /*round=*/3), 1);
}

TEST(ClippedObjectiveTest, OnADeviceItIsDoneWhenTheGradientReturns) {
  EmulatedDevice device({});
  const std::unique_ptr<DeviceStream> stream = *device.NewStream();
  // The emulated device's memory is the CPU's.
  const auto clipped =
      ClippedObjective::Make(Growing(), 10, {.device = &device, .stream = stream.get()});
  ASSERT_TRUE(clipped.ok()) << clipped.status();
  const std::vector<float> replica(3);
  std::vector<float> gradient(3);
  ASSERT_TRUE((*clipped)->Gradient(replica.data(), 3, gradient.data()).ok());
  EXPECT_EQ(gradient, (std::vector<float>{6, 8, 100}));
}

TEST(ClippedObjectiveTest, ADeviceWithoutMemoryForTheNormIsAnError) {
  EmulatedDevice device({.memory = 8});
  const std::unique_ptr<DeviceStream> stream = *device.NewStream();
  const auto clipped =
      ClippedObjective::Make(Growing(), 10, {.device = &device, .stream = stream.get()});
  EXPECT_EQ(clipped.status().code(), absl::StatusCode::kResourceExhausted) << clipped.status();
}

}  // namespace
}  // namespace grapevine
