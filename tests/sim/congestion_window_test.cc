// The window of a connection: slow start, what ends it, growth, pauses and losses.
#include "sim/network/congestion_window.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/millisecond.h"

namespace grapevine {
namespace {

constexpr Nanoseconds kSecond = 1'000 * kMillisecond;

// A sender that always has something to send; acknowledgements of a round come evenly, `apart`.
class Sender {
 public:
  explicit Sender(CongestionControl control) : window(control) {}

  void Round(Nanoseconds round_trip, Nanoseconds apart = 5 * kMillisecond) {
    if (in_flight_ == 0) {
      window.Resume(now);
      Send();
    }
    const int64_t flight = in_flight_;
    now += round_trip;
    for (int64_t i = 0; i < flight; i += 2) {
      const int64_t acknowledged = std::min<int64_t>(2, flight - i);
      in_flight_ -= acknowledged;
      window.OnAck(acknowledged, round_trip, now);
      Send();
      now += apart;
    }
  }
  void Rest(Nanoseconds pause) {
    in_flight_ = 0;
    now += pause;
  }

  CongestionWindow window;
  Nanoseconds now = kSecond;

 private:
  void Send() {
    const int64_t more = std::max<int64_t>(0, window.segments() - in_flight_);
    in_flight_ += more;
    window.OnSent(more, in_flight_, now);
  }
  int64_t in_flight_ = 0;
};

TEST(CongestionWindowTest, SlowStartDoublesTheWindowEveryRoundTrip) {
  for (const CongestionControl control : {CongestionControl::kCubic, CongestionControl::kReno}) {
    Sender sender(control);
    for (const int64_t window : {10, 20, 40, 80}) {
      EXPECT_EQ(sender.window.segments(), window);
      sender.Round(10 * kMillisecond);
    }
  }
}

TEST(CongestionWindowTest, CubicEndsSlowStartWhenRoundTripsGetLonger) {
  Sender cubic(CongestionControl::kCubic), reno(CongestionControl::kReno);
  for (Sender* sender : {&cubic, &reno}) {
    for (const Nanoseconds round_trip : {10, 10, 20}) sender->Round(round_trip * kMillisecond);
  }
  EXPECT_EQ(reno.window.segments(), 80);
  // The ninth acknowledgement of the third round shows it: 40 + 8 * 2, then 5 % a round trip.
  EXPECT_EQ(cubic.window.segments(), 56 + 24 / 20);
}

TEST(CongestionWindowTest, CubicEndsSlowStartAfterATrainOfHalfARoundTrip) {
  Sender sender(CongestionControl::kCubic);
  // Of the second round's ten acknowledgements, a millisecond apart, the seventh comes after more
  // than half of the round trip and a millisecond: 20 + 6 * 2, then 5 % a round trip.
  for (int round = 0; round < 2; ++round) sender.Round(10 * kMillisecond, kMillisecond);
  EXPECT_EQ(sender.window.segments(), 32 + 8 / 20);
}

TEST(CongestionWindowTest, WhatDoesNotLimitDoesNotGrow) {
  CongestionWindow window(CongestionControl::kReno);
  window.Resume(0);
  for (int round = 0; round < 20; ++round) {
    const Nanoseconds now = round * 10 * kMillisecond;
    window.OnSent(2, 2, now);
    window.OnAck(2, 5 * kMillisecond, now + 5 * kMillisecond);
  }
  EXPECT_EQ(window.segments(), 10);
}

TEST(CongestionWindowTest, APauseOfTimeOutsHalvesItAsOftenDownToTen) {
  Sender sender(CongestionControl::kReno);
  for (int round = 0; round < 4; ++round) sender.Round(10 * kMillisecond);
  ASSERT_EQ(sender.window.segments(), 160);
  sender.Rest(0);
  const auto after = [&](Nanoseconds pause) {
    CongestionWindow window = sender.window;
    window.Resume(sender.now + pause);
    return window.segments();
  };
  EXPECT_EQ(after(150 * kMillisecond), 160);
  EXPECT_EQ(after(300 * kMillisecond), 80);
  EXPECT_EQ(after(500 * kMillisecond), 40);
  EXPECT_EQ(after(60 * kSecond), 10);
}

TEST(CongestionWindowTest, RenoHalvesAndGrowsByOneARoundTrip) {
  Sender sender(CongestionControl::kReno);
  for (int round = 0; round < 3; ++round) sender.Round(10 * kMillisecond);
  sender.window.OnLoss();
  EXPECT_EQ(sender.window.segments(), 40);
  // Lost with the first, and answered with it.
  sender.window.OnLoss();
  EXPECT_EQ(sender.window.segments(), 40);
}

TEST(CubicTest, ReturnsToTheOldWindowAfterK) {
  Cubic cubic;
  EXPECT_EQ(cubic.OnLoss(1000), 700);
  // K is the cube root of (1000 - 700) / 0.4: 9.0856 s. Until then the window is below the old one.
  const Nanoseconds shortest = kMillisecond;
  cubic.SegmentsPerGrowth(700, 2, shortest, 0);
  EXPECT_LT(cubic.SegmentsPerGrowth(990, 2, shortest, 9080 * kMillisecond), 100 * 990);
  EXPECT_EQ(cubic.SegmentsPerGrowth(1000, 2, shortest, 9080 * kMillisecond), 100 * 1000);
  // 5 s later it is 50 segments more.
  EXPECT_EQ(cubic.SegmentsPerGrowth(1000, 2, shortest, 14'086 * kMillisecond), 1000 / 50);
}

}  // namespace
}  // namespace grapevine
