#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "experiment/real/node_recording.h"

namespace grapevine {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using ::testing::ElementsAre;

TEST(ProfileRecorderTest, LeavesOutTheRoundThatWarmsUp) {
  ProfileRecorder recorder("cpu");
  recorder.OnRound(microseconds(5), microseconds(1), 100);
  EXPECT_THAT(recorder.Profile().devices(0).gradient_ns(), ElementsAre(5000));
  recorder.OnRound(microseconds(3), microseconds(2), 30);
  recorder.OnRound(microseconds(2), microseconds(2), 30);
  const DeviceProfile device = recorder.Profile().devices(0);
  EXPECT_EQ(device.device(), "cpu");
  EXPECT_EQ(device.gradients(), 2);
  EXPECT_THAT(device.gradient_ns(), ElementsAre(2000, 3000));
  EXPECT_EQ(device.mix_bytes(), 60);
  EXPECT_EQ(device.mix_ns(), 4000);
}

TEST(ProfileRecorderTest, AServerHasNoGradients) {
  ProfileRecorder recorder("cpu");
  for (int i = 0; i < 3; ++i) recorder.OnRound({}, microseconds(1), 10);
  EXPECT_EQ(recorder.Profile().devices(0).gradients(), 0);
  EXPECT_EQ(recorder.Profile().devices(0).mix_bytes(), 20);
}

TEST(ProfileRecorderTest, ThinsOutALongRunEvenly) {
  ProfileRecorder recorder("cpu");
  constexpr int kRounds = 100'000;
  for (int i = 0; i <= kRounds; ++i) recorder.OnRound(nanoseconds(i), {}, 0);
  const DeviceProfile device = recorder.Profile().devices(0);
  EXPECT_EQ(device.gradients(), kRounds);
  const auto& times = device.gradient_ns();
  EXPECT_LE(static_cast<size_t>(times.size()), ProfileRecorder::kMaxTimes);
  EXPECT_GE(static_cast<size_t>(times.size()), ProfileRecorder::kMaxTimes / 2);
  const int64_t stride = times[1] - times[0];
  for (int i = 1; i < times.size(); ++i) EXPECT_EQ(times[i] - times[i - 1], stride);
  EXPECT_GT(times[times.size() - 1], kRounds - 2 * stride);
}

}  // namespace
}  // namespace grapevine
