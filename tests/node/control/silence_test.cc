#include "node/control/silence.h"

#include <chrono>

#include "gtest/gtest.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kLeast{10}, kMost{30};

// Heard every `pause`, so often.
Silence Heard(std::chrono::nanoseconds pause, int times) {
  Silence silence;
  SteadyTime now{};
  silence.Begin(now);
  for (int i = 0; i < times; ++i) silence.End(now += pause);
  return silence;
}

TEST(SilenceTest, NothingIsKnownAtFirst) {
  EXPECT_EQ(Heard(milliseconds(1), 0).Limit(kLeast, kMost), kMost);
  EXPECT_EQ(Heard(milliseconds(1), Silence::kEnough - 1).Limit(kLeast, kMost), kMost);
  EXPECT_EQ(Heard(milliseconds(1), Silence::kEnough).Limit(kLeast, kMost), kLeast);
}

TEST(SilenceTest, TheLimitFollowsTheLongestOneBetweenTheBounds) {
  EXPECT_EQ(Heard(seconds(1), 100).Limit(kLeast, kMost), kLeast);
  EXPECT_EQ(Heard(seconds(4), 100).Limit(kLeast, kMost), seconds(16));
  EXPECT_EQ(Heard(seconds(9), 100).Limit(kLeast, kMost), kMost);
}

TEST(SilenceTest, OneLongPauseIsRememberedForAWhile) {
  Silence silence = Heard(seconds(1), 100);
  SteadyTime now = silence.last_heard();
  silence.End(now += seconds(6));
  for (size_t i = 1; i < Silence::kTurns; ++i) {
    EXPECT_EQ(silence.Limit(kLeast, kMost), seconds(24)) << i;
    silence.End(now += seconds(1));
  }
  silence.End(now += seconds(1));
  silence.End(now += seconds(1));
  EXPECT_EQ(silence.Limit(kLeast, kMost), kLeast);
}

// Measurements are reports, too.
TEST(SilenceTest, WhoSaysMuchIsRememberedAsLong) {
  Silence silence = Heard(milliseconds(5), 1000);
  SteadyTime now = silence.last_heard();
  silence.End(now += seconds(9));
  for (int i = 0; i < 6000; ++i) silence.End(now += milliseconds(5));
  EXPECT_EQ(silence.Limit(kLeast, kMost), kMost) << "half a minute later";
  for (int i = 0; i < 10000; ++i) silence.End(now += milliseconds(5));
  EXPECT_EQ(silence.Limit(kLeast, kMost), kLeast);
}

TEST(SilenceTest, WhatNobodyListenedToIsNotCounted) {
  Silence silence = Heard(seconds(1), 100);
  silence.Postpone(seconds(20), kMost, silence.last_heard() + seconds(20));
  silence.End(silence.last_heard() + seconds(1));
  EXPECT_EQ(silence.Limit(kLeast, kMost), kLeast);
}

// Who stood still lets others stand still for as long, but no longer than anybody may.
TEST(SilenceTest, WhoStoodStillWithTheListenerMayComeBackLater) {
  Silence silence = Heard(seconds(1), 100);
  const SteadyTime last = silence.last_heard();
  EXPECT_EQ(silence.Deadline(kLeast), last + kLeast);
  silence.Postpone(seconds(2), kMost, last + seconds(3));
  EXPECT_EQ(silence.Deadline(kLeast), last + seconds(2) + kLeast) << "which is later";
  silence.Postpone(seconds(100), kMost, last + seconds(200));
  EXPECT_EQ(silence.Deadline(kLeast), last + seconds(200) + kMost);
}

TEST(SilenceTest, TheUpperBoundHoldsWhereTheLowerOneIsHigher) {
  EXPECT_EQ(Heard(seconds(1), 100).Limit(kMost, kLeast), kLeast);
}

}  // namespace
}  // namespace grapevine
