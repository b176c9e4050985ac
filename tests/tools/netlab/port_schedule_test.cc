#include <gtest/gtest.h>

#include <optional>

#include "tools/netlab/ethernet_switch.h"

namespace grapevine::netlab {
namespace {

constexpr int64_t kMs = 1'000'000;

TEST(PortScheduleTest, AFrameAloneTakesLatencyAndItsOwnTime) {
  PortSchedule port({.latency_ns = 5 * kMs, .bits_per_second = 8'000'000, .queue_bytes = 10'000});
  EXPECT_EQ(port.Admit(1000, 0), 6 * kMs);
  EXPECT_EQ(port.Admit(500, 100 * kMs), 105 * kMs + kMs / 2);
}

TEST(PortScheduleTest, FramesThatComeTogetherFollowEachOtherAtTheRate) {
  PortSchedule port({.latency_ns = 5 * kMs, .bits_per_second = 8'000'000, .queue_bytes = 10'000});
  EXPECT_EQ(port.Admit(1000, 0), 6 * kMs);
  EXPECT_EQ(port.Admit(1000, 0), 7 * kMs);
  EXPECT_EQ(port.Admit(1000, kMs), 8 * kMs);
}

TEST(PortScheduleTest, WhatTheLatencyHoldsBackIsNotInTheQueue) {
  PortSchedule port({.latency_ns = 1000 * kMs, .bits_per_second = 8'000'000, .queue_bytes = 1000});
  // At the rate of the port: a thousand frames are underway and none waits.
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(port.Admit(1000, i * kMs), (1001 + i) * kMs);
}

TEST(PortScheduleTest, LosesWhatTheQueueCannotHold) {
  PortSchedule port({.latency_ns = 0, .bits_per_second = 8'000'000, .queue_bytes = 2000});
  EXPECT_EQ(port.Admit(1000, 0), kMs);
  EXPECT_EQ(port.Admit(1000, 0), 2 * kMs);
  EXPECT_EQ(port.Admit(1000, 0), 3 * kMs);
  EXPECT_EQ(port.Admit(1000, 0), std::nullopt);
  // Room again once one has gone.
  EXPECT_EQ(port.Admit(1000, kMs), 4 * kMs);
}

TEST(PortScheduleTest, WithoutARateOnlyTheLatencyCounts) {
  PortSchedule port({.latency_ns = 5 * kMs, .bits_per_second = 0, .queue_bytes = 0});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(port.Admit(1500, kMs), 6 * kMs);
}

}  // namespace
}  // namespace grapevine::netlab
