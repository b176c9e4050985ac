#include "run/records/step_account.h"

#include <gtest/gtest.h>

#include <chrono>

namespace grapevine {
namespace {

using std::chrono::nanoseconds;
using Step = StepAccount::Step;

TEST(StepAccount, TheLastMessageOfTheRoundIsTheOneThatWasWaitedFor) {
  StepAccount account;
  account.Begin(5, nanoseconds(1000));
  account.OnGradient(nanoseconds(1000), nanoseconds(1100));
  account.OnMessage(1, 5, nanoseconds(1130));
  account.OnMessage(2, 5, nanoseconds(1150));
  account.OnMessage(3, 6, nanoseconds(1160));  // of the next round
  account.OnArithmetic(nanoseconds(20));
  const Step step = account.End(6, nanoseconds(1170));
  EXPECT_EQ(step.time.count(), 170);
  EXPECT_EQ(step.gradient.count(), 100);
  EXPECT_EQ(step.mix.count(), 20);
  EXPECT_EQ(step.wait.count(), 50);
  EXPECT_EQ(step.awaited, 2);
  EXPECT_EQ(account.completed(), 6);
}

TEST(StepAccount, WhoseGradientIsLastWaitsForNobody) {
  StepAccount account;
  account.Begin(0, nanoseconds(0));
  account.OnMessage(1, 0, nanoseconds(30));
  account.OnGradient(nanoseconds(10), nanoseconds(100));
  const Step step = account.End(1, nanoseconds(110));
  EXPECT_EQ(step.wait.count(), 20);
  EXPECT_FALSE(step.awaited.has_value());
}

TEST(StepAccount, ArithmeticBesideTheGradientCountsOnce) {
  StepAccount account;
  account.Begin(0, nanoseconds(0));
  account.OnArithmetic(nanoseconds(30));
  account.OnGradient(nanoseconds(0), nanoseconds(100));
  account.OnMessage(1, 0, nanoseconds(120));
  account.OnArithmetic(nanoseconds(10));
  const Step step = account.End(1, nanoseconds(130));
  EXPECT_EQ(step.mix.count(), 40);
  EXPECT_EQ(step.wait.count(), 20);
}

TEST(StepAccount, WhatOneStepHadIsNotInTheNext) {
  StepAccount account;
  account.Begin(0, nanoseconds(0));
  account.OnMessage(1, 0, nanoseconds(50));
  EXPECT_EQ(account.End(1, nanoseconds(60)).awaited, 1);
  const Step next = account.End(2, nanoseconds(90));
  EXPECT_EQ(next.wait.count(), 30);
  EXPECT_FALSE(next.awaited.has_value());
}

TEST(StepAccount, AtRestNobodyIsWaitedFor) {
  StepAccount account;
  account.Begin(0, nanoseconds(0));
  account.Pause(nanoseconds(1000));
  account.OnGradient(nanoseconds(1000), nanoseconds(1100));
  account.OnMessage(1, 0, nanoseconds(1105));
  const Step step = account.End(1, nanoseconds(1105));
  EXPECT_EQ(step.time.count(), 105);
  EXPECT_EQ(step.wait.count(), 5);
}

}  // namespace
}  // namespace grapevine
