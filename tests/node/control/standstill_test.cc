#include "node/control/standstill.h"

#include <chrono>

#include "gtest/gtest.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(StandstillTest, LooksThatComeInTimeSayNothing) {
  SteadyTime now{};
  Standstill standstill(seconds(5), now);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(standstill.Look(now += seconds(1)), nanoseconds(0));
  EXPECT_EQ(standstill.Look(now += milliseconds(4999)), nanoseconds(0));
}

TEST(StandstillTest, OneThatIsLateSaysHowLongNothingWasDoneAndTheNextOneNothing) {
  SteadyTime now{};
  Standstill standstill(seconds(5), now);
  EXPECT_EQ(standstill.Look(now += seconds(1)), nanoseconds(0));
  EXPECT_EQ(standstill.Look(now += seconds(60)), seconds(60));
  EXPECT_EQ(standstill.Look(now += seconds(1)), nanoseconds(0));
  EXPECT_EQ(standstill.Look(now += seconds(5)), seconds(5));
}

TEST(StandstillTest, WhatIsReadAtOnceIsNoNews) {
  SteadyTime now{};
  Standstill standstill(seconds(5), now);
  standstill.Look(now += seconds(60));
  EXPECT_FALSE(standstill.IsNews(now));
  EXPECT_FALSE(standstill.IsNews(now + milliseconds(999)));
  EXPECT_TRUE(standstill.IsNews(now + seconds(1)));
}

TEST(StandstillTest, WhereLooksAreCloseNewsCanComeSoon) {
  SteadyTime now{};
  Standstill standstill(milliseconds(100), now);
  standstill.Look(now += seconds(1));
  EXPECT_FALSE(standstill.IsNews(now + milliseconds(49)));
  EXPECT_TRUE(standstill.IsNews(now + milliseconds(50)));
}

}  // namespace
}  // namespace grapevine
