#include "sim/network/tcp_effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <vector>

#include "base/status.h"
#include "sim/network/network_model.h"
#include "tests/sim/millisecond.h"
#include "tests/sim/timed_run.h"

namespace grapevine::testing {
namespace {

constexpr uint64_t kSeed = 23;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Message number `i` of many alike.
Transfer Numbered(int i, Transfer transfer) {
  transfer.from = i % 7;
  transfer.to = 7 + i % 5;
  transfer.tag.index = i;
  return transfer;
}

struct Means {
  double extra_bytes = 0;
  double delay = 0;
};

Means Average(const TcpEffects& effects, const Transfer& transfer, int messages) {
  Means means;
  for (int i = 0; i < messages; ++i) {
    const MessageEffect effect = effects.Of(Numbered(i, transfer));
    means.extra_bytes += (effect.bytes - static_cast<double>(transfer.bytes)) / messages;
    means.delay += static_cast<double>(effect.delay) / messages;
  }
  return means;
}

TEST(TcpEffects, ChangesNothingWithoutOptions) {
  const MessageEffect effect =
      TcpEffects({}).Of({.bytes = 1000, .latency = kMillisecond, .idle = Transfer::kNeverUsed});
  EXPECT_EQ(effect.bytes, 1000);
  EXPECT_EQ(effect.delay, 0);
  EXPECT_EQ(effect.max_rate, kInfinity);
}

TEST(TcpEffects, JitterIsExponential) {
  std::printf("seed %d\n", static_cast<int>(kSeed));
  const TcpEffects effects({.seed = kSeed, .jitter = kMillisecond});
  constexpr int kMessages = 50'000;
  int above_twice_the_mean = 0;
  for (int i = 0; i < kMessages; ++i) {
    const MessageEffect effect =
        effects.Of(Numbered(i, {.bytes = 1000, .latency = 5 * kMillisecond}));
    EXPECT_EQ(effect.bytes, 1000);
    above_twice_the_mean += effect.delay > 2 * kMillisecond;
  }
  const double p = std::exp(-2);
  EXPECT_NEAR(above_twice_the_mean, p * kMessages, 4 * std::sqrt(p * (1 - p) * kMessages));
  EXPECT_NEAR(Average(effects, {.bytes = 1000}, kMessages).delay, kMillisecond,
              4 * kMillisecond / std::sqrt(kMessages));
}

TEST(TcpEffects, TheRateIsThatOfMathis) {
  // 1460 B / 20 ms * sqrt(1.5 / 0.01) = 894 kB/s.
  EXPECT_NEAR(TcpEffects::MathisRate(0.01, 20 * kMillisecond), 894.06e3 * 1e-9, 1e-8);
  EXPECT_EQ(TcpEffects::MathisRate(0, 20 * kMillisecond), kInfinity);
  EXPECT_EQ(TcpEffects::MathisRate(0.01, 0), kInfinity);
  const TcpEffects effects({.loss = 0.01});
  EXPECT_EQ(effects.Of({.bytes = 1, .latency = 10 * kMillisecond}).max_rate,
            TcpEffects::MathisRate(0.01, 20 * kMillisecond));
}

// A packet is sent 1 / (1 - p) times in the mean.
TEST(TcpEffects, LostPacketsAreSentAgain) {
  std::printf("seed %d\n", static_cast<int>(kSeed));
  for (double loss : {0.001, 0.02, 0.3}) {
    // Few packets are drawn one by one, many as a normal: of both a million.
    for (int64_t packets : {10, 1000, 100'000}) {
      const int messages = static_cast<int>(1'000'000 / packets);
      const TcpEffects effects({.seed = kSeed, .loss = loss});
      const Means means = Average(
          effects, {.bytes = packets * TcpEffects::kSegment, .latency = kMillisecond}, messages);
      const double extra = means.extra_bytes / TcpEffects::kSegment / static_cast<double>(packets);
      const double deviation = std::sqrt(loss / 1e6) / (1 - loss);
      EXPECT_NEAR(extra, loss / (1 - loss), 4 * deviation) << loss << " " << packets;
    }
  }
}

// A message of one packet waits for a time-out each time that it is lost.
TEST(TcpEffects, ALostTailWaitsForTheTimeout) {
  std::printf("seed %d\n", static_cast<int>(kSeed));
  constexpr double kLoss = 0.2;
  constexpr int kMessages = 50'000;
  const TcpEffects effects({.seed = kSeed, .loss = kLoss});
  const Transfer transfer{.bytes = 100, .latency = 10 * kMillisecond};
  const double timeout = 220.0 * kMillisecond;
  int unharmed = 0;
  for (int i = 0; i < kMessages; ++i) {
    const Nanoseconds delay = effects.Of(Numbered(i, transfer)).delay;
    unharmed += delay == 0;
    EXPECT_EQ(delay % static_cast<Nanoseconds>(timeout), 0);
  }
  EXPECT_NEAR(unharmed, (1 - kLoss) * kMessages, 4 * std::sqrt(0.16 * kMessages));
  EXPECT_NEAR(Average(effects, transfer, kMessages).delay / timeout, kLoss / (1 - kLoss), 0.012);
}

// Losses before the last window are repaired while others flow.
TEST(TcpEffects, ARoundTripForEachRoundOfRepairs) {
  std::printf("seed %d\n", static_cast<int>(kSeed));
  constexpr double kLoss = 0.001;
  constexpr int kMessages = 20'000;
  const Nanoseconds round_trip = 20 * kMillisecond;
  const TcpEffects effects({.seed = kSeed, .loss = kLoss});
  int repaired = 0;
  int timeouts = 0;
  for (int i = 0; i < kMessages; ++i) {
    const MessageEffect effect = effects.Of(
        Numbered(i, {.bytes = 10'000 * TcpEffects::kSegment, .latency = round_trip / 2}));
    EXPECT_GE(effect.bytes, 10'000.0 * TcpEffects::kSegment);
    repaired += effect.delay == round_trip;
    timeouts += effect.delay >= TcpEffects::kLeastTimeout;
  }
  // Mathis' window: sqrt(1.5 / p) = 38.7, so 38 packets before the very last one.
  const double p = (1 - std::pow(1 - kLoss, 38)) * (1 - kLoss);
  EXPECT_NEAR(repaired, p * kMessages, 4 * std::sqrt(p * kMessages));
  EXPECT_NEAR(timeouts, kLoss * kMessages, 4 * std::sqrt(kLoss * kMessages));
}

TEST(TcpEffects, SlowStartDoublesTheWindowUntilItFillsTheRate) {
  const double rate = 0.125;  // 1 Gbit/s
  const Nanoseconds trip = 10 * kMillisecond;
  const double window = 10 * 1460;
  // One window: no wait. Two: one wait. The rate's window is 1.25 MB, above 2^6 windows.
  EXPECT_EQ(TcpEffects::SlowStartDelay(14'600, rate, trip), 0);
  EXPECT_EQ(TcpEffects::SlowStartDelay(14'601, rate, trip), std::llround(trip - window / rate));
  EXPECT_EQ(TcpEffects::SlowStartDelay(43'801, rate, trip),
            std::llround(2.0 * trip - 3 * window / rate));
  const Nanoseconds whole = std::llround(7.0 * trip - 127 * window / rate);
  EXPECT_EQ(TcpEffects::SlowStartDelay(10'000'000, rate, trip), whole);
  EXPECT_EQ(TcpEffects::SlowStartDelay(100'000'000, rate, trip), whole);
  // A window that is large enough from the start.
  EXPECT_EQ(TcpEffects::SlowStartDelay(10'000'000, rate, 100'000), 0);
  EXPECT_EQ(TcpEffects::SlowStartDelay(10'000'000, rate, 0), 0);
}

TEST(TcpEffects, OnlyIdleConnectionsStartSlowly) {
  const TcpEffects effects({.slow_start = true, .bandwidth = 0.125});
  const auto delay = [&effects](Nanoseconds idle) {
    return effects.Of({.bytes = 1'000'000, .latency = 5 * kMillisecond, .idle = idle}).delay;
  };
  EXPECT_EQ(delay(0), 0);
  EXPECT_EQ(delay(210 * kMillisecond), 0);
  const Nanoseconds slow = TcpEffects::SlowStartDelay(1'000'000, 0.125, 10 * kMillisecond);
  EXPECT_GT(slow, 0);
  EXPECT_EQ(delay(210 * kMillisecond + 1), slow);
  EXPECT_EQ(delay(Transfer::kNeverUsed), slow);
}

TEST(TcpEffects, DependOnTheMessageAlone) {
  const TcpEffects effects({.seed = 1, .jitter = kMillisecond, .loss = 0.1});
  const Transfer transfer{.from = 1,
                          .to = 2,
                          .tag = {.channel = 3, .index = 4, .step = 5},
                          .bytes = 100'000,
                          .latency = kMillisecond};
  const MessageEffect effect = effects.Of(transfer);
  EXPECT_EQ(effects.Of(transfer).delay, effect.delay);
  std::vector<Transfer> others(6, transfer);
  others[0].from = 2;
  others[1].to = 1;
  others[2].tag.channel = 4;
  others[3].tag.index = 5;
  others[4].tag.step = 4;
  std::swap(others[5].from, others[5].to);
  for (const Transfer& other : others) EXPECT_NE(effects.Of(other).delay, effect.delay);
  // To the bit, on every machine.
  EXPECT_EQ(effect.delay, 3'948'664);
  EXPECT_EQ(effect.bytes, 100'000 + 5 * TcpEffects::kSegment);
}

TEST(TcpEffects, ComeFromAConfiguration) {
  Config config;
  config.set_bandwidth("1Gbit");
  config.set_jitter("0s");
  EXPECT_EQ(*MakeMessageEffects(config, 0.125), nullptr);
  config.set_jitter("1ms");
  EXPECT_NE(*MakeMessageEffects(config, 0.125), nullptr);
  config.set_loss(0.6);
  const absl::Status status = MakeMessageEffects(config, 0.125).status();
  EXPECT_EQ(FailureOf(status), Failure::kUsage);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("--loss=0.6: at most 0.5"));
}

TEST(Connections, KnowHowLongTheyWereIdle) {
  Connections connections;
  EXPECT_EQ(connections.Begin(1, 2, 100), Transfer::kNeverUsed);
  EXPECT_EQ(connections.Begin(1, 2, 150), 0) << "the first is under way";
  EXPECT_EQ(connections.Begin(2, 1, 150), Transfer::kNeverUsed) << "the other way";
  connections.End(1, 2, 200);
  EXPECT_EQ(connections.Begin(1, 2, 210), 0);
  connections.End(1, 2, 220);
  connections.End(1, 2, 300);
  EXPECT_EQ(connections.Begin(1, 2, 340), 40);
}

// A ring round of 1.08 MB over 100 Mbit/s: both flows of an interface share it.
TEST(TcpEffects, WorkInASimulation) {
  TimedRun run{
      .nodes = 8, .rounds = 1, .network = {.bandwidth = 0.0125, .latency = 5 * kMillisecond}};
  const Nanoseconds plain = run.Last();
  const TcpEffects slow({.slow_start = true, .bandwidth = 0.0125});
  run.effects = &slow;
  EXPECT_EQ(run.Last() - plain, TcpEffects::SlowStartDelay(1'080'000, 0.0125, 10 * kMillisecond));
  // Lossy enough that Mathis' rate decides: 1460 B / 10 ms * sqrt(1.5 / 0.1).
  const TcpEffects lossy({.loss = 0.1, .bandwidth = 0.0125});
  run.effects = &lossy;
  EXPECT_GT(run.Last(), std::llround(1'080'000 / TcpEffects::MathisRate(0.1, 10 * kMillisecond)));
  // Twice the same.
  EXPECT_EQ(run.Ended(), run.Ended());
}

}  // namespace
}  // namespace grapevine::testing
